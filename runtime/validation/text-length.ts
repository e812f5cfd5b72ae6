import { _, type Ajv2020, type KeywordCxt, str } from "ajv/dist/2020.js"

/**
 * `maxLength` and `minLength` count characters, not UTF-16 units (JSON Schema 2020-12 Validation §6.3). ajv goes through each text for that; most are
 * told by their units: a text has at most as many characters, and at least half as many.
 */
export function addLengths(ajv: Ajv2020): void {
  for (const keyword of ["maxLength", "minLength"] as const) {
    ajv.removeKeyword(keyword)
    ajv.addKeyword({
      keyword,
      type: "string",
      schemaType: "number",
      error: {
        message: ({ schemaCode }) =>
          str`must NOT have ${keyword === "maxLength" ? "more" : "fewer"} than ${schemaCode} characters`,
        params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
      },
      code: (context) => judge(context, keyword),
    })
  }
}

function judge(context: KeywordCxt, keyword: "maxLength" | "minLength"): void {
  const { gen, data, schema } = context
  const limit = schema as number
  const count = gen.scopeValue("func", { ref: charactersOf })
  if (keyword === "maxLength") context.fail(_`${data}.length > ${limit} && ${count}(${data}) > ${limit}`)
  else context.fail(_`${data}.length < ${limit * 2} && ${count}(${data}) < ${limit}`)
}

/** A surrogate without its other half is a character of its own. */
function charactersOf(text: string): number {
  let count = 0
  for (const _character of text) count += 1
  return count
}
