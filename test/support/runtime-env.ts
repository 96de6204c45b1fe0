// What a process that a test starts is given of the test's own environment: nothing that could configure the service.

/** Where programs are, and where compiled modules are kept between processes. */
export function runtimeEnv(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) }
}
