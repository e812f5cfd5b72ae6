/** A project with one of each thing that tests of a gateway may name. */
export const fullProject: readonly (readonly [string, string])[] = [
  [
    "gateway.conf",
    `gateway main {
  listen 127.0.0.1:8443 {
    tls {
      certificate shop
      client-certificate request "a.example" { ca file("ca.pem") }
    }
  }
  trust none
}
certificate shop { cert file("shop.pem"); key file("shop.key") }
authz { listen 127.0.0.1:8080; store main { model "model.fga" } }
backend b { url "http://127.0.0.1:9001" }
api a {
  path "/a"
  backend b
  GET "/" { auth none }
}
`,
  ],
  ["model.fga", "model\n  schema 1.1\n\ntype user\n\ntype doc\n  relations\n    define viewer: [user]\n"],
]

/** A store file with a wrong key in each map whose keys are fixed: the product names the right ones. */
export const everyStoreKey = `zzz: 1
model_file: model.fga
tuples:
  - { user: user:a, relation: viewer, object: doc:1, zzz: 1, condition: { name: c, zzz: 1 } }
tests:
  - zzz: 1
    check:
      - { user: user:a, object: doc:1, assertions: { viewer: true }, zzz: 1 }
    list_objects:
      - { user: user:a, type: doc, assertions: { viewer: [] }, zzz: 1 }
    list_users:
      - { object: doc:1, user_filter: [{ type: user, zzz: 1 }], assertions: { viewer: { users: [], zzz: 1 } }, zzz: 1 }
`

/** The same of tests of a gateway. */
export const everyGatewayKey = `zzz: 1
given:
  zzz: 1
  tuples: [{ user: user:a, relation: viewer, object: doc:1, zzz: 1, condition: { name: c, zzz: 1 } }]
  callers: { c: { zzz: 1, signature: { zzz: 1 }, certificate: { subject: CN=a, zzz: 1 } } }
  subscriptions: { s: { zzz: 1 } }
  backends: { b: { zzz: 1 } }
tests:
  - zzz: 1
    request: { path: /a, zzz: 1 }
    expect:
      zzz: 1
      backends: { b: { zzz: 1 } }
      decision: { zzz: 1 }
      granted: [{ user: user:a, relation: viewer, object: doc:1, zzz: 1 }]
      websocket: { zzz: 1 }
  - steps:
      - { zzz: 1, after: 1s }
      - together: [{ zzz: 1, request: GET /a }]
`

const check = "check: [{ user: user:a, object: doc:1, assertions: { viewer: true } }]"

/** Store files that the product refuses for their form. */
export const wrongStores = [
  `tests: [{ ${check} }]`,
  "model_file: model.fga\nnames: x\ntests: []",
  "model_file: model.fga\ntests: { a: 1 }",
  "model_file: [model.fga]\ntests: []",
  `model_file: model.fga\ntuples: [{ user: user:a, relation: viewer }]\ntests: [{ ${check} }]`,
  `model_file: model.fga\ntuples: [{ user: user:a, relation: viewer, object: [doc:1] }]\ntests: [{ ${check} }]`,
  `model_file: model.fga\ntuples: [{ user: user:a, relation: viewer, object: doc:1, condition: {} }]\ntests: [{ ${check} }]`,
  "model_file: model.fga\ntests: [{ check: { user: user:a } }]",
  "model_file: model.fga\ntests: [{ check: [{ object: doc:1, assertions: { viewer: true } }] }]",
  "model_file: model.fga\ntests: [{ check: [{ user: user:a, users: [user:b], object: doc:1, assertions: { viewer: true } }] }]",
  "model_file: model.fga\ntests: [{ check: [{ user: user:a, object: doc:1 }] }]",
  "model_file: model.fga\ntests: [{ check: [{ user: user:a, object: doc:1, assertions: { viewer: maybe } }] }]",
  "model_file: model.fga\ntests: [{ check: [{ user: user:a, object: doc:1, assertions: { viewer: 1 } }] }]",
  "model_file: model.fga\ntests: [{ list_objects: [{ user: user:a, assertions: { viewer: [] } }] }]",
  "model_file: model.fga\ntests: [{ list_objects: [{ user: user:a, type: doc, assertions: { viewer: doc:1 } }] }]",
  "model_file: model.fga\ntests: [{ list_users: [{ object: doc:1, user_filter: [{}], assertions: { viewer: { users: [] } } }] }]",
  "model_file: model.fga\ntests: [{ list_users: [{ object: doc:1, user_filter: [{ type: user }], assertions: { viewer: [user:a] } }] }]",
  "model_file: model.fga\ntests: [{ list_users: [{ object: doc:1, user_filter: [{ type: user }, { type: user }], assertions: { viewer: { users: [] } } }] }]",
]

const one = "{ request: GET /a, expect: { status: 200 } }"

/** Tests of a gateway that the product refuses for their form. */
export const wrongGatewayTests = [
  `test: [${one}]`,
  "tests: 1",
  "tests: [{ expect: { status: 200 } }]",
  "tests: [{ request: /a, expect: { status: 200 } }]",
  "tests: [{ request: { method: GET }, expect: { status: 200 } }]",
  "tests: [{ request: { path: a }, expect: { status: 200 } }]",
  "tests: [{ request: GET /a, expect: { status: 99 } }]",
  "tests: [{ request: GET /a, expect: { status: ok } }]",
  "tests: [{ request: GET /a, expect: { states: 200 } }]",
  "tests: [{ request: GET /a, times: 0, expect: { status: 200 } }]",
  "tests: [{ request: GET /a, after: soon, expect: { status: 200 } }]",
  "tests: [{ request: GET /a, only: 1, expect: { status: 200 } }]",
  "tests: [{ request: GET /a, expect: { left: -1 } }]",
  "tests: [{ request: GET /a, expect: { took: 5 } }]",
  "tests: [{ request: GET /a, expect: { decision: { allowed: 1 } } }]",
  "tests: [{ request: GET /a, expect: { granted: 1 } }]",
  "tests: [{ request: GET /a, expect: { headers: [a] } }]",
  `tests: [{ request: GET /a, steps: [${one}] }]`,
  "tests: [{ steps: [{ expect: { status: 200 } }] }]",
  "tests: [{ steps: [{ together: [{ expect: { status: 200 } }] }] }]",
  `tests: [{ steps: [{ together: [${one}], request: GET /a }] }]`,
  "tests: [{ request: GET /a, websocket: s, send: hi, expect: { status: 101 } }]",
  "tests: [{ steps: [{ request: GET /a, websocket: s }, { websocket: s, close: door, expect: { websocket: open } }] }]",
  "tests: [{ steps: [{ after: 1s, expect: { status: 200 } }] }]",
  "tests: [{ steps: [{ after: 1s, send: hi }] }]",
  "tests: [{ request: GET /a, websocket: s, expect: { websocket: ajar } }]",
  "tests: [{ request: GET /a, websocket: s, expect: { websocket: { open: 1 } } }]",
  `given: { time: today }\ntests: [${one}]`,
  `given: { env: [a] }\ntests: [${one}]`,
  `given: { callers: { a: { issuer: i } } }\ntests: [${one}]`,
  `given: { callers: { a: { forged: true } } }\ntests: [${one}]`,
  `given: { callers: { a: { certificate: { issuer: CN=a } } } }\ntests: [${one}]`,
  `given: { callers: { a: { certificate: { subject: CN=a, fails: lost } } } }\ntests: [${one}]`,
  `given: { callers: { a: { certificate: { subject: CN=a, thumbprint: ab } } } }\ntests: [${one}]`,
  `given: { backends: { b: { fails: slow } } }\ntests: [${one}]`,
  `given: { backends: { b: { on: /a } } }\ntests: [${one}]`,
  `given: { backends: { b: { delay: 1 } } }\ntests: [${one}]`,
  `given: { tuples: [{ user: user:a, relation: viewer }] }\ntests: [${one}]`,
]

/** Lists of modules that the product refuses. */
export const wrongModules = [
  "contents: [a.fga]",
  'schema: "1.2"',
  "schema: 1.2\ncontents: [a.fga]",
  'schema: "1.1"\ncontents: [a.fga]',
  'schema: "1.2"\ncontents: a.fga',
  'schema: "1.2"\ncontents: []',
  'schema: "1.2"\ncontents: [a.txt]',
  'schema: "1.2"\ncontents: [/a.fga]',
  'schema: "1.2"\ncontents: [../a.fga]',
  'schema: "1.2"\ncontents: [a.fga, a.fga]',
  'schema: "1.2"\ncontents: [a.fga]\nmodules: []',
]
