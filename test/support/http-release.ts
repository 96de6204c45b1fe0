// The API's promises to its clients, flattened: one line for each endpoint and each field that is asked for or answered, with its type. Two of
// these are compared to see whether a release would break a client.

/** As much of an OpenAPI document as is looked at: any part of it may have any of these. */
interface Part {
  $ref?: string
  type?: unknown
  enum?: unknown
  required?: string[]
  oneOf?: Part[]
  properties?: Record<string, Part>
  items?: Part
  name?: string
  schema?: Part
  content?: Record<string, Part>
  parameters?: Part[]
  requestBody?: Part
  responses?: Record<string, Part>
}

/** Type by place: `GET /api/stats 200 .totalNodes` is `integer`. */
export type Contract = Record<string, string>

/** Flattens a document. */
// biome-ignore lint/suspicious/noExplicitAny: a document of any shape, read by path
export function contractOf(document: any): Contract {
  const contract: Contract = {}
  const resolve = (part: Part = {}): Part => {
    if (part.$ref === undefined) return part
    let at = document
    for (const key of part.$ref.slice(2).split('/')) at = at[key]
    return resolve(at)
  }
  const around: Part[] = []
  const visit = (place: string, described: Part | undefined, required: boolean): void => {
    const part = resolve(described)
    const options = (part.oneOf ?? []).map(resolve)
    const types = part.oneOf ? options.map((option) => option.type) : part.type
    const values = part.enum === undefined ? '' : ` of ${JSON.stringify(part.enum)}`
    contract[place] = `${JSON.stringify(types)}${values}${required ? '' : ' optional'}`
    // A schema within itself promises nothing new.
    for (const holder of [part, ...options]) {
      if (around.includes(holder)) continue
      around.push(holder)
      fields(place, holder)
      around.pop()
    }
  }
  const fields = (place: string, { properties = {}, required = [], items }: Part): void => {
    for (const name in properties) visit(`${place}.${name}`, properties[name], required.includes(name))
    if (items) visit(`${place}[]`, items, true)
  }
  const schemaOf = (holder: Part | undefined) => resolve(holder).content?.['application/json']?.schema
  const operation = (place: string, { parameters = [], requestBody, responses = {} }: Part): void => {
    contract[place] = 'endpoint'
    for (const { name, schema } of parameters.map(resolve)) visit(`${place} parameter ${name}`, schema, false)
    if (requestBody) visit(`${place} body `, schemaOf(requestBody), true)
    for (const status in responses) {
      contract[`${place} ${status}`] = 'status'
      const schema = schemaOf(responses[status])
      if (schema && Number(status) < 400) visit(`${place} ${status} `, schema, true)
    }
  }
  for (const path in document.paths)
    for (const method in document.paths[path])
      operation(`${method.toUpperCase()} ${path}`, document.paths[path][method])
  return contract
}

/** Places of a released contract that are gone or have become something else. New ones break no client. */
export function brokenPromises(released: Contract, now: Contract): string[] {
  return Object.keys(released).filter((place) => now[place] !== released[place])
}
