/** A model with what `require` of the sample asks. */
export const sampleModel = `model
  schema 1.1

type user

type team
  relations
    define member: [user]

type order
  relations
    define owner: [user]
    define editor: [user] or owner
    define viewer: [user, user:*, team#member] or editor
`

/** Declarations that use nearly every statement; they may stand in any order. */
export const sampleDeclarations: readonly string[] = [
  `gateway acme {
  listen 127.0.0.1:8000 [::1]:8000
  trust 10.0.0.0/8 fd00::/8
  limits { body 1MB; header 32KB; headers 50; timeout 10s }
  outbound { header remove "Server" }
}`,
  `authz { listen 127.0.0.1:8080; max-staleness 10s; store acme { model "acme.fga" } }`,
  `value edge = "edge-\${number}"`,
  `value number = "1"`,
  `value auth_url = env(AUTH_URL, "http://127.0.0.1:8081")`,
  `secret ci_key = env(CI_KEY)`,
  `secret token = file("/run/secrets/token")`,
  `issuer acme { discovery "\${auth_url}/openid"; audience a b; claims { sub string; roles list string } }`,
  `issuer other { keys file("keys.json"); issuer "me"; audience *; clock-skew 5s; algorithms ES256 RS256 }`,
  `backend one { url "http://127.0.0.1:9001" }`,
  `backend two { target "http://127.0.0.1:9002" weight 3; target "http://127.0.0.1:9003"; timeout connect 1s total none }`,
  `policy edge_headers { outbound { header set "X-Edge" edge }; inbound { header set "X-Token" token } }`,
  `api orders {
  path "/orders"
  version v1 { backend one; deprecated; sunset 2099-06-30 }
  version v2 { backend two; GET "/new" }
  auth jwt acme { claim roles has any "reader" "writer" }
  auth jwt other
  limit 100 per 1m by jwt.sub else ip
  use edge_headers
  inbound { when ("admin" in jwt.roles) { header set "X-Admin" "1" } else { respond 403 { body json ({"no": jwt.sub}) } } }
  GET "/{id}" { auth jwt acme; require viewer of "order:\${path.id}" for "user:\${jwt.sub}" }
  PUT "/{id}" { auth jwt acme; require editor of "order:\${path.id}" for "user:\${jwt.sub}"; without edge_headers }
  ANY "/files/{rest*}" { inbound { rewrite "/f/\${path.rest}"; query set "n" number; forward-host preserve }; timeout none }
}`,
  `api catalog {
  path "/catalog"
  backend "http://127.0.0.1:9004"
  auth subscription { query none }
  GET "/items" { outbound { body set json "{\\"id\\": \${request.id}, \\"e\\": \\"\${edge}\\"}" } }
}`,
  `api status { path "/status"; auth none; GET "/" { respond 200 { body text "\${gateway.state}" } } }`,
  `product partner { apis catalog status; limit 1000 per 1h by subscription }`,
  `subscription ci { product partner; key ci_key }`,
]
