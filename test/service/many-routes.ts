const route = (at: number): string => `  GET "/r${at}/{id}" {
    require viewer of "doc:\${path.id}" for "user:\${jwt.sub}"
    limit 100 per 1m by jwt.sub
    inbound {
      header set "X-Route" "r${at} \${edge}"
      when (request.header("x") == "1") {
        respond 403 { body text "no" }
      } else {
        cache lookup
      }
      backend "http://127.0.0.1:${9000 + at}"
    }
    outbound { cache store 60s; header remove "Server" }
  }
`

/** A project with routes in versions, policies, products, and mistakes that several routes share. */
export const manyRoutes: ReadonlyMap<string, string> = new Map([
  [
    "gateway.conf",
    `gateway g { listen 127.0.0.1:8000; trust none
  outbound { header set "X-G" edge } }
authz { listen 127.0.0.1:8081; store acme { model "acme.fga" } }
value edge = "e"
value unused = "u"
secret key = env(KEY)
issuer i { discovery "https://id.example/.well-known/openid-configuration"; audience a; claims { sub string; tenant string } }
backend b { url "http://127.0.0.1:9001" }
backend c { url "http://127.0.0.1:9002" }
policy guard { check header "X-A" == "1"; inbound { header set "X-P" "\${path.id}" } }
product p { apis a; limit 5 per 1m by subscription }
api a {
  path "/a"
  auth jwt i
  backend b
  limit 10 per 1m by ip
  inbound { header set "X-T" "\${jwt.tenant}"; header set "X-Bad" "\${jwt.nope}" }
  version v1 { use guard; websocket { idle 10s } }
  version v2 { without limit }
${Array.from({ length: 12 }, (_, at) => route(at)).join("")}}
api z { path "/z"; auth none; backend c
  GET "/one" { use guard }
  POST "/two" { inbound { mirror c }; validate request }
  ANY "/{rest*}" { without auth; auth none }
}
`,
  ],
  [
    "acme.fga",
    `model
  schema 1.1
type user
type doc
  relations
    define viewer: [user]
    define edit: viewer
`,
  ],
])
