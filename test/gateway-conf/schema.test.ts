import { readdirSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { syntaxOf } from "../../compiler/gateway/bind/syntax.ts"
import { bind } from "../../compiler/gateway/bind.ts"
import { parseGateway } from "../../compiler/gateway/parser.ts"
import type { BlockName } from "../../compiler/gateway/schema/block-name.ts"
import { blocks, laterWords } from "../../compiler/gateway/schema/blocks.ts"
import { projectsIn } from "../cases.ts"
import { projectRoot } from "../structure/tree.ts"

/** A file in which a statement stands in a block of each kind. */
const around: { readonly [Name in BlockName]: (statement: string) => string } = {
  file: (statement) => statement,
  gateway: (statement) => `gateway g {\nlisten 127.0.0.1:1\n${statement}\n}`,
  listen: (statement) => around.gateway(`listen 127.0.0.1:8000 {\n${statement}\n}`),
  "engine listen": (statement) => around.authz(`listen 127.0.0.1:8001 {\n${statement}\n}`),
  "listen tls": (statement) => around.listen(`tls {\ncertificate c\n${statement}\n}`),
  "client certificate": (statement) =>
    around["listen tls"](`client-certificate require {\nca file("c")\n${statement}\n}`),
  limits: (statement) => around.gateway(`limits {\n${statement}\n}`),
  "shared redis": (statement) => around.limits(`shared redis s {\n${statement}\n}`),
  tracing: (statement) => around.gateway(`tracing {\notlp "http://x"\n${statement}\n}`),
  metrics: (statement) => around.gateway(`metrics {\notlp "http://x"\n${statement}\n}`),
  record: (statement) => around.gateway(`record {\nfolder "f"\nencrypt-with s\n${statement}\n}`),
  authz: (statement) => `authz {\n${statement}\n}`,
  "authz key": (statement) => around.authz(`auth key k {\n${statement}\n}`),
  "authz jwt": (statement) => around.authz(`auth jwt i {\n${statement}\n}`),
  "authz subject": (statement) => around["authz jwt"](`subject * {\n${statement}\n}`),
  "authz limits": (statement) => around.authz(`limits {\n${statement}\n}`),
  "authz cors": (statement) => around.authz(`cors {\norigins *\n${statement}\n}`),
  "authz log": (statement) => around.authz(`log {\n${statement}\n}`),
  "authz authzen": (statement) => around.authz(`authzen {\n${statement}\n}`),
  control: (statement) => `control {\n${statement}\n}`,
  "control jwt": (statement) => around.control(`auth jwt i {\nrole viewer\n${statement}\n}`),
  portal: (statement) => `portal {\nlisten 127.0.0.1:8090\napis a\n${statement}\n}`,
  "portal listen": (statement) => around.portal(`listen 127.0.0.1:8091 {\n${statement}\n}`),
  change: (statement) => `change {\n${statement}\n}`,
  "control listen": (statement) => around.control(`listen 127.0.0.1:8443 {\n${statement}\n}`),
  store: (statement) => around.authz(`store s {\nmodel "m"\n${statement}\n}`),
  introspection: (statement) => `introspection i {\nurl "http://x"\nclient x secret s\n${statement}\n}`,
  oidc: (statement) => `oidc o {\nissuer i\nclient x\nsession-keys s\n${statement}\n}`,
  users: (statement) => `users u {\nuser a s\n${statement}\n}`,
  pdp: (statement) => `pdp p {\nurl "http://x"\n${statement}\n}`,
  "auth introspection": (statement) => around.api(`auth introspection i {\n${statement}\n}`),
  "auth oidc": (statement) => around.api(`auth oidc o {\n${statement}\n}`),
  "auth basic": (statement) => around.api(`auth basic u {\n${statement}\n}`),
  "auth certificate": (statement) => around.api(`auth certificate {\n${statement}\n}`),
  "auth hmac": (statement) => around.api(`auth hmac stripe s {\n${statement}\n}`),
  "auth hmac custom": (statement) => around.api(`auth hmac custom s {\nheader "X"\n${statement}\n}`),
  certificate: (statement) => `certificate c {\ncert file("c")\nkey file("k")\n${statement}\n}`,
  "certificate acme": (statement) =>
    `certificate c {\nacme {\ndirectory staging\nhosts "x"\nencrypt-with s\n${statement}\n}\n}`,
  "token client": (statement) => `token t {\nclient x secret s\n${statement}\n}`,
  issuer: (statement) => `issuer i {\n${statement}\n}`,
  claims: (statement) => around.issuer(`claims {\n${statement}\n}`),
  backend: (statement) => `backend b {\n${statement}\n}`,
  tls: (statement) => around.backend(`tls {\n${statement}\n}`),
  kubernetes: (statement) => around.backend(`targets kubernetes "a/b:1" {\n${statement}\n}`),
  health: (statement) => around.backend(`health GET "/" every 1s {\n${statement}\n}`),
  breaker: (statement) => around.backend(`breaker 1 failures in 1s open 1s {\n${statement}\n}`),
  retry: (statement) => around.backend(`retry 1 on timeout {\n${statement}\n}`),
  policy: (statement) => `policy p {\n${statement}\n}`,
  xml: (statement) => `xml {\n${statement}\n}`,
  api: (statement) => `api a {\npath "/a"\n${statement}\n}`,
  version: (statement) => around.api(`version v {\n${statement}\n}`),
  operation: (statement) => around.api(`GET "/" {\n${statement}\n}`),
  openapi: (statement) => around.api(`openapi "a.yaml" {\n${statement}\n}`),
  docs: (statement) => around.api(`docs "/a.json" {\n${statement}\n}`),
  "validate request": (statement) => around.api(`validate request {\n${statement}\n}`),
  "validate response": (statement) => around.api(`validate response {\n${statement}\n}`),
  "validate status": (statement) => around.outbound(`validate status {\n${statement}\n}`),
  "validate graphql": (statement) => around.inbound(`validate graphql {\n${statement}\n}`),
  "validate content": (statement) => around.outbound(`validate content {\n${statement}\n}`),
  "validate content json": (statement) => around.outbound(`validate content { json {\n${statement}\n} }`),
  "mask-urls": (statement) => around.outbound(`body mask-urls {\n${statement}\n}`),
  compress: (statement) => around.api(`compress {\n${statement}\n}`),
  "validate headers": (statement) => around.outbound(`validate headers {\n${statement}\n}`),
  "auth jwt": (statement) => around.api(`auth jwt i {\n${statement}\n}`),
  question: (statement) => around.api(`require r of "o:1" for "u:1" {\n${statement}\n}`),
  "require any": (statement) => around.api(`require any {\n${statement}\n}`),
  check: (statement) => around.api(`check header "X" {\n${statement}\n}`),
  "check any": (statement) => around.api(`inbound { check any {\n${statement}\n} }`),
  cors: (statement) => around.api(`cors {\norigins *\n${statement}\n}`),
  quota: (statement) => around.api(`quota 1 calls per 1h by ip {\n${statement}\n}`),
  limit: (statement) => around.api(`limit 1 per 1s by ip {\n${statement}\n}`),
  "auth subscription": (statement) => around.api(`auth subscription {\n${statement}\n}`),
  websocket: (statement) => around.api(`websocket {\n${statement}\n}`),
  inbound: (statement) => around.api(`inbound {\n${statement}\n}`),
  outbound: (statement) => around.api(`outbound {\n${statement}\n}`),
  respond: (statement) => around.inbound(`respond 200 {\n${statement}\n}`),
  "on-error": (statement) => around.api(`on-error {\n${statement}\n}`),
  send: (statement) => around.inbound(`send x {\nurl "http://x/"\n${statement}\n}`),
  metric: (statement) => around.inbound(`metric m {\n${statement}\n}`),
  weighted: (statement) => around.inbound(`backend weighted {\nbackend b weight 1\n${statement}\n}`),
  choices: (statement) => around.inbound(`backend by "x" {\ncase "x" b\n${statement}\n}`),
  mirror: (statement) => around.inbound(`mirror b {\n${statement}\n}`),
  "parallel inbound": (statement) => around.inbound(`parallel all {\nbranch { }\n${statement}\n}`),
  "parallel outbound": (statement) => around.outbound(`parallel all {\nbranch { }\n${statement}\n}`),
  "parallel on-error": (statement) => around["on-error"](`parallel all {\nbranch { }\n${statement}\n}`),
  "cache response": (statement) => around.api(`cache response 60s {\n${statement}\n}`),
  "cache lookup": (statement) => around.inbound(`cache lookup {\n${statement}\n}`),
  "json-to-xml": (statement) => around.inbound(`body json-to-xml {\n${statement}\n}`),
  "xml-to-json": (statement) => around.inbound(`body xml-to-json {\n${statement}\n}`),
  product: (statement) => `product p {\napis a\n${statement}\n}`,
  subscription: (statement) => `subscription s {\nkey k\n${statement}\n}`,
}

function findings(text: string): string[] {
  const report = new Report()
  bind([parseGateway(new SourceFile("gateway.conf", text), report)], report)
  // The statement may stand there already, for blocks that must have it.
  return report.sorted().flatMap(({ code, detail }) => (code === "SP2008" ? [] : [`${code} ${detail}`]))
}

test("every keyword is used by the project of a case", () => {
  const projects = [...projectsIn(...readdirSync(`${projectRoot}test/cases`)).values()].flat()
  const text = projects
    .flatMap(([path, content]) => (path.endsWith(".conf") ? [content] : []))
    .join("\n")
    .replace(/(^|\s)#.*$/gm, "")
  const used = new Set(text.match(/(?<![^\s{;])[a-z][\w-]*/g))
  // Methods are all alike, and cases use some of them.
  const keywords = Object.values(blocks).flatMap(({ rows }) => rows.map(({ keyword }) => keyword))
  expect(keywords.filter((keyword) => /[a-z]/.test(keyword) && !used.has(keyword))).toEqual([])
})

describe.each(Object.keys(blocks) as BlockName[])("statements of %s", (name) => {
  const { rows, anyKeyword } = blocks[name]
  const all = anyKeyword === undefined ? rows : [anyKeyword]

  test.each(all.map((row) => [row.keyword, row] as const))("%s: its example is right", (keyword, row) => {
    expect(row.example.startsWith(anyKeyword === undefined ? keyword : "")).toBe(true)
    expect(findings(around[name](row.example))).toEqual([])
    expect(row.docs).toMatch(/^[A-Z`].*[.]$/s)
    expect(syntaxOf(row).every((line) => line.startsWith(keyword))).toBe(true)
  })

  test("a keyword has one row", () => {
    expect(new Set(rows.map((row) => row.keyword)).size).toBe(rows.length)
  })
})

test("words of later versions are not understood, but known", () => {
  for (const { word, blocks: places, after } of laterWords) {
    for (const name of places) {
      const statement = after === undefined ? word : `${after} ${word}`
      expect(findings(around[name](statement))[0], `${statement} in ${name}`).toMatch(/^SP2003 /)
    }
  }
})
