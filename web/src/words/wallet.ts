// Connecting a wallet, and what it says.
export const words = {
  connect: 'Connect a wallet',
  disconnect: 'Disconnect',
  unnamed: 'Wallet of this browser',
  noneFound: 'No wallet found in this browser.',
  install:
    'Install a wallet extension and reload this page, or pay from a phone with the QR code on the page of a tier.',
  confirm: 'confirm in the wallet…',
  keys: 'Connecting shows this page your address, nothing more. Keys stay in the wallet.',
  wrongChain: 'Your wallet is on chain {id}; this ledger is on {chain}.',
  confirmSwitch: 'Confirm in the wallet…',
  switch: 'Switch the wallet',
  add: 'Show in my wallet',
  added: 'Added',
  apps: {
    open: 'Open this page in the browser of your wallet app:',
    another: 'Another app works, too: open its browser, and go to {host}. Or pay by hand.',
  },
  notices: {
    hold: 'This wallet is a contract. Its payment will be held for review: the operator looks at it, and releases the node or sends the ether back. From an ordinary account the node comes by itself.',
    proven:
      'This wallet is a contract. Its payment becomes a node once the wallet is known to be somebody’s. A Safe and other known wallets are; any other <signIn>signs in here</signIn>, before it pays or after.',
    all: 'This wallet is a contract. It buys as any other wallet does, and the node belongs to it.',
  },
  contractsMay: {
    hold: 'A transfer of a contract wallet (a Safe, a smart account) is held until the operator has looked.',
    proven: 'A contract wallet (a Safe, a smart account) may pay, too, once it is known to be somebody’s.',
    all: 'A contract wallet (a Safe, a smart account) may pay, too.',
  },
  proposed:
    'The wallet has taken the call. It is sent once as many signers as the wallet asks for have agreed. This page waits for it, and need not stay open.',
  call: { to: 'To', value: 'Value', data: 'Data', chainId: 'Chain id' },
  errors: {
    noAnswer: 'The wallet did not answer.',
    refused: 'The wallet refused. Nothing was sent.',
    tooLittle: 'The wallet does not hold enough ether for the amount and the fee.',
  },
} as const
