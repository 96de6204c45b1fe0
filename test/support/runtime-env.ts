// The part of the test's own environment that its child processes get. It contains nothing that could configure the
// service.

/** The locations of programs, and of compiled modules kept between processes. */
export function runtimeEnv(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) }
}
