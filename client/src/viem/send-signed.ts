// Signs and sends for an account whose key the program holds. A file of its own, which is loaded with its first use: pages have wallets for that.
export { sendTransaction } from 'viem/actions'
