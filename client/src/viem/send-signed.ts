// Signs and sends for an account whose key the program holds. Loaded on first use, because pages never need it.
export { sendTransaction } from 'viem/actions'
