// Node's own HTTP server. To import it by name reads each name of the module, WebSocket too, with which Node loads its own copy of undici: 16 MB
// that nothing here asks for (https://github.com/nodejs/node/issues/59686). Asked for as a built-in module, only what is used is loaded.
export const { createServer } = process.getBuiltinModule('node:http')
