/** Text for an operation of the document. */
const own = (at: number): string => `  GET "/r${at}/{id}" {
    require viewer of "doc:\${path.id}" for "user:\${jwt.sub}"
    inbound { header set "X-Route" "r${at} \${edge}"; validate content prevent { json { } } }
  }
`

/** A project whose operations an OpenAPI document of two files describes, with mistakes that several operations share, and a model of two modules with tests. */
export const describedRoutes: ReadonlyMap<string, string> = new Map([
  [
    "gateway.conf",
    `gateway g { listen 127.0.0.1:8000; trust none }
authz { listen 127.0.0.1:8081; store acme { model "fga.mod"; tests "acme.fga.yaml" } }
value edge = "e"
issuer i { discovery "https://id.example/.well-known/openid-configuration"; audience a }
backend b { url "http://127.0.0.1:9001" }
portal { listen 127.0.0.1:8002; apis a }
api a {
  path "/a"
  backend b
  openapi "a.yaml" { security token auth jwt i; security none auth none; skip "POST /lost" }
  validate request prevent { unknown-query prevent }
  validate response detect
  docs "/openapi.json" { auth none }
  version v1 { limit 10 per 1m by ip }
  version v2 { openapi "a.yaml" { lenient } }
${Array.from({ length: 4 }, (_, at) => own(at)).join("")}  GET "/extra" { extra; auth none }
  GET "/r5/{other}" { mock }
}
api z { path "/z"; auth none; openapi "a.yaml"; backend b; mock }
api plain { path "/p"; auth jwt i; backend b; validate request
  GET "/one" { mock 200 }
}
`,
  ],
  [
    "a.yaml",
    `openapi: 3.1.0
info: { title: A, version: "1" }
security:
  - token: [read]
components:
  securitySchemes:
    token: { type: oauth2, flows: { clientCredentials: { tokenUrl: "https://x.example", scopes: { read: r } } } }
    key: { type: apiKey, in: header, name: X-Key }
paths:
${Array.from(
  { length: 7 },
  (_, at) => `  /r${at}/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: string } }
      - { name: q${at}, in: query, schema: { type: integer } }
    get:
      operationId: get${at}
      security: ${["[{ token: [read, x] }]", "[]", "[{ key: [] }]", "[{ token: [] }]"][at % 4]}
      responses:
        200:
          description: it
          content:
            application/json: { schema: { $ref: "schemas.yaml#/S${at % 3}" } }
            application/xml: { schema: { $ref: "schemas.yaml#/S0" } }
`,
).join("")}  /lost:
    post:
      requestBody: { content: { text/xml: { schema: { $ref: "schemas.yaml#/S1" } } } }
      responses: { 200: { description: it } }
`,
  ],
  [
    "schemas.yaml",
    `S0: { type: object, properties: { a: { type: string, pattern: "(?=x)y", minimum: 3 }, b: { $ref: "#/S1" } } }
S1: { allOf: [{ $ref: "#/S2" }, { type: object, readOnly: true }] }
S2: { anyOf: [{ $ref: "#/S1" }, { type: integer, enum: [] }], examples: [5] }
`,
  ],
  ["fga.mod", "schema: '1.2'\ncontents:\n  - core.fga\n  - docs.fga\n"],
  ["core.fga", "module core\n\ntype user\n"],
  ["docs.fga", "module docs\n\ntype doc\n  relations\n    define viewer: [user]\n"],
  [
    "acme.fga.yaml",
    `model_file: fga.mod
tuple_file: tuples.yaml
tests:
  - check:
      - { user: "user:anne", object: "doc:1", assertions: { viewer: true, owner: false } }
`,
  ],
  ["tuples.yaml", '- { user: "user:anne", relation: viewer, object: "doc:1" }\n'],
])
