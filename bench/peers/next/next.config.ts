import type { NextConfig } from 'next'

const config: NextConfig = {
  poweredByHeader: false,
  // Otherwise Next.js takes the repository's own package as its root.
  turbopack: { root: new URL('..', import.meta.url).pathname },
}
export default config
