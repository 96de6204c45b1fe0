// Node's own HTTP server. A named import would touch every export of the module, including WebSocket, for which Node loads its own copy of undici: 16
// MB that nothing here needs (https://github.com/nodejs/node/issues/59686). With getBuiltinModule, Node loads only what is used.
export const { createServer } = process.getBuiltinModule('node:http')
