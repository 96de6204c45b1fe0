// Connecting a wallet, and its answers.
export const words = {
  connect: 'Connect a wallet',
  disconnect: 'Disconnect',
  unnamed: 'Wallet of this browser',
  noneFound: 'No wallet found in this browser. Install a wallet extension and reload this page.',
  byHand: 'Pay by QR code or by hand',
  confirm: 'confirm in the wallet…',
  keys: 'Connecting shows this page your address and nothing else. Keys stay in the wallet.',
  wrongChain: 'Your wallet is on chain {id}; this ledger is on {chain}.',
  confirmSwitch: 'Confirm in the wallet…',
  switch: 'Switch the wallet',
  add: 'Show in my wallet',
  added: 'Added',
  apps: {
    open: 'Open this page in the browser of your wallet app:',
    another: 'Or open the browser of another wallet app and go to {host}.',
  },
  notices: {
    hold: 'This wallet is a contract. We hold its payment until the operator releases the node or sends the ETH back. If you pay from an ordinary account, you get the node automatically.',
    proven:
      'This wallet is a contract. Its payment becomes a node once we know that somebody controls it. We know a Safe and other common wallets. With any other, <signIn>sign in here</signIn> before or after you pay.',
    all: 'This wallet is a contract. It can buy like any other wallet, and it will own the node.',
  },
  proposed: 'The wallet has accepted the call and sends it once enough signers agree. You can close this page.',
  call: { to: 'To', value: 'Value', data: 'Data', chainId: 'Chain id' },
  errors: {
    noAnswer: 'The wallet did not answer.',
    refused: 'The wallet declined. Nothing was sent.',
    tooLittle: 'The wallet does not hold enough ETH for the amount and the fee.',
  },
} as const
