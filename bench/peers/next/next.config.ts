import type { NextConfig } from 'next'

const config: NextConfig = {
  poweredByHeader: false,
  // Else it takes the repository's own package for its home.
  turbopack: { root: new URL('..', import.meta.url).pathname },
}
export default config
