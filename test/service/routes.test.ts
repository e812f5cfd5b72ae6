import { describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { textOf } from "../../compiler/core/source.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"

const conf = `gateway shop { listen 127.0.0.1:8000; outbound { header remove "Server"; header set "X" "1" } }
authz { listen 127.0.0.1:8081; store acme { model "acme.fga" } }
issuer staff { discovery "https://id.example/.well-known/openid-configuration"; audience a }
backend orders { url "http://127.0.0.1:9001" }
backend other { url "http://127.0.0.1:9002" }
policy guard { deny ip 10.9.0.0/16 }
product gold { apis shop; limit 9 per 1m by subscription }
api shop {
  path "/shop"
  auth jwt staff
  auth subscription
  cors { origin "https://a.example" }
  backend orders
  timeout 7s
  limit 5 per 1m by ip
  version v1 { without cors }
  version v2 { limit 3 per 1m by ip }
  GET "/orders/{id}" {
    use guard
    require viewer of "order:\${path.id}" for "user:\${request.ip}" # who may look
    backend other
  }
  POST "/open" { without auth limit; auth none; inbound { set a (size(request.text) > 2) } }
}
`
const model = `model
  schema 1.1
type user
type order
  relations
    define owner: [user with inside]
    define viewer: owner or viewer from parent
    define parent: [order]
condition inside(ip: ipaddress) {
  ip.in_cidr("10.0.0.0/8")
}
`

function serviceOf(text = conf): LanguageService {
  const files = new MemoryFiles([
    ["gateway.conf", text],
    ["acme.fga", model],
  ])
  return new LanguageService(files, "gateway.conf")
}

describe("inlay hints", () => {
  test("name what an operation inherits, with its place, and nothing of its own", async () => {
    const hints = await serviceOf().hints("gateway.conf", 0, conf.length)
    const shown = hints.map(({ at, parts }) => [
      conf.slice(conf.lastIndexOf("\n", at.start) + 1, at.start).trim(),
      parts.map(({ text }) => text),
    ])
    const [get = [], post = []] = shown
    expect(get[0]).toBe('GET "/orders/{id}"')
    expect(get[1]).toEqual(
      expect.arrayContaining(["auth jwt staff", "auth subscription", "deny ip 10.9.0.0/16"]),
    )
    expect(get[1]).not.toContain("backend orders")
    expect(post).toEqual(['POST "/open"', ["outbound {2}", "backend orders", "timeout 7s", "cors {1}"]])
    const limit = hints[0]?.parts.find(({ text }) => text.startsWith("limit 9"))
    expect(limit?.docs).toContain("from product gold, gateway.conf:7")
    expect(limit && textOf(limit.span)).toBe("limit")
  })

  test("only those of the lines that are asked for, and none where a mistake keeps the operation from being compiled", async () => {
    const at = conf.indexOf("POST")
    expect(await serviceOf().hints("gateway.conf", at, at + 10)).toHaveLength(1)
    const broken = conf.replace('GET "/orders/{id}"', 'GxET "/orders/{id}"')
    expect(await serviceOf(broken).hints("gateway.conf", 0, broken.length)).toHaveLength(1)
  })
})

test("the lens of an operation says who can call it", async () => {
  const lenses = await serviceOf().lenses("gateway.conf")
  expect(lenses.map(({ title }) => title)).toEqual([
    'Callers: a token of staff or a subscription key, who is viewer of "order:${path.id}" for "user:${request.ip}", not from ip 10.9.0.0/16',
    "Callers: anyone",
  ])
})

describe("the requests that a place is about", () => {
  const requestsAt = async (part: string, text = conf) => {
    const found = await serviceOf(text).requests("gateway.conf", text.indexOf(part))
    return found.map(({ method, path, host }) =>
      [method, path, ...(host === undefined ? [] : [host])].join(" "),
    )
  }
  const get = ["GET /v1/shop/orders/{id}", "GET /v2/shop/orders/{id}"]
  const post = ["POST /v1/shop/open", "POST /v2/shop/open"]

  test("are those of the operation, one for each version", async () => {
    for (const part of ["GET", "who may look", "backend other\n"]) expect(await requestsAt(part)).toEqual(get)
    expect(await requestsAt("request.text")).toEqual(post)
  })

  test("are those of the version, else of the API, else of the statement", async () => {
    expect(new Set(await requestsAt("without cors"))).toEqual(new Set([get[0], post[0]]))
    expect(new Set(await requestsAt("timeout 7s"))).toEqual(new Set([...get, ...post]))
    expect(await requestsAt("deny ip")).toEqual(get)
    expect(await requestsAt("discovery")).toEqual([])
  })

  test("name a host, and GET for operations of any method; a mistake elsewhere does not matter", async () => {
    const at = (hosts: string) => {
      const text = conf.replace('path "/shop"', `path "/shop"; host ${hosts}; bakend x`).replace("GET", "ANY")
      return requestsAt("ANY", text)
    }
    expect(await at('"b.example" "*.a.example"')).toEqual(get.map((each) => `${each} b.example`))
    expect(await at('"*.a.example"')).toEqual(get.map((each) => `${each} www.a.example`))
  })
})

describe("hover", () => {
  const hover = async (part: string) =>
    (await serviceOf().hover("gateway.conf", conf.indexOf(part)))?.markdown ?? ""

  test("over an operation shows what applies to it, own and inherited", async () => {
    const shown = await hover("GET")
    expect(shown).toContain("`GET /v1/shop/orders/{id}`, `GET /v2/shop/orders/{id}`")
    expect(shown).toContain("- `backend other` (here, gateway.conf:21)")
    expect(shown).toContain("- `timeout 7s` (api shop, gateway.conf:14)")
    expect(shown).toContain("- `deny ip 10.9.0.0/16` (policy guard, gateway.conf:6)")
    expect(shown).not.toContain("backend orders")
  })

  test("over a statement of an outer block shows in how many routes it has an effect", async () => {
    expect(await hover("limit 5")).toContain("Has an effect on 2 of 4 routes.")
    expect(await hover("cors {")).toContain("Has an effect on 2 of 4 routes.")
  })

  test("names the default where nothing is written", async () => {
    const text = conf.replace("  timeout 7s\n", "")
    const shown = await serviceOf(text).hover("gateway.conf", text.indexOf("GET"))
    expect(shown?.markdown).toMatch(/- `timeout \S+` \(of the gateway, or the default\)/)
  })
})

describe("semantic tokens", () => {
  const tokensOf = async (path: string) => {
    const tokens = await serviceOf().tokens(path)
    return tokens.map(({ kind, declares, span }) => `${declares ? "+" : ""}${kind} ${textOf(span)}`)
  }

  test("of gateway.conf", async () => {
    const found = await tokensOf("gateway.conf")
    for (const each of [
      ...["keyword gateway", "+namespace shop", "+namespace staff", "namespace staff", "enumMember jwt"],
      ...["property viewer", "string order:", "variable path", "property id", "comment # who may look"],
      ...["number 5", "function size", "number 2", "namespace guard", "keyword GET", "namespace limit"],
    ])
      expect(found).toContain(each)
  })

  test("of a model", async () => {
    const found = await tokensOf("acme.fga")
    expect(found).toEqual([
      ...["+type user", "+type order", "+property owner", "type user", "function inside"],
      ...["+property viewer", "property owner", "property viewer", "property parent"],
      ...["+property parent", "type order", "+function inside"],
    ])
  })

  test("are in order, each on one line, and do not overlap", async () => {
    for (const path of ["gateway.conf", "acme.fga"]) {
      const tokens = await serviceOf().tokens(path)
      for (const [index, { span }] of tokens.entries()) {
        expect(textOf(span)).not.toContain("\n")
        expect(span.start).toBeGreaterThanOrEqual(tokens[index - 1]?.span.end ?? 0)
      }
    }
  })
})
