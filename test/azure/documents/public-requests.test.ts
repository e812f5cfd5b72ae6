import { afterAll, beforeAll, expect, test } from "vitest"
import { startUpstream, type Upstream } from "../../gateway/harness.ts"
import { conformanceFiles, conformanceText, describeConformance } from "../../model/conformance.ts"
import { serveDocuments } from "./serving.ts"

// What is refused is wrong in the document itself: public-documents.test.ts says where.
const refused: ReadonlySet<string> = new Set([
  "Generate Azure Relay Token.policy.xml",
  "Get OAuth2 access token from AAD using client id and certificate using key vault manage identity.xml",
  "PUT a file to blobStorage account.xml",
  "Pre-authorize requests based on HTTP method with validate-jwt.policy.xml",
  "Return a blob URL signed with a user delegation SAS token.xml",
])

// Other answers than 200 are what the document means: a caller without what it asks for, or a backend that does not answer as it expects.
const statuses: Readonly<Record<string, number>> = {
  "Extracting multiple values from xml documents.policy.xml": 500,
  "Filter on IP Address when using Application Gateway.policy.xml": 403,
  "Handle Power Query access request to custom API.policy.xml": 401,
  "Perform basic authentication.policy.xml": 401,
  "Request OAuth2 access token from SuccessFactors using AAD JWT token.xml": 401,
  "oauth-proxy__oauth-proxy-callback.xml": 500,
  "oauth-proxy__oauth-proxy-session-fragment.xml": 302,
  "oauth-proxy__oauth-proxy-sign-in.xml": 400,
}

describeConformance("public policy documents serve requests", () => {
  let upstream: Upstream

  beforeAll(async () => {
    upstream = await startUpstream((request, response) => {
      request.resume()
      request.on("end", () => {
        const body = JSON.stringify({
          access_token: "t",
          token_type: "Bearer",
          expires_in: 3600,
          status: 200,
          value: "v",
          issuer: upstream.url,
        })
        response.writeHead(200, { "content-type": "application/json", "content-length": body.length })
        response.end(body)
      })
    })
  })

  afterAll(() => upstream.close())

  /** The project of one document: what it names is declared, hosts outside are the backend. */
  function projectOf(path: string): [string, string][] {
    const text = conformanceText(path).replaceAll(
      /https?:\/\/(?=[a-z{])(?:\{\{[^}]+\}\}|[A-Za-z0-9.-])+/g,
      `${upstream.url}/out`,
    )
    const names = new Set([...text.matchAll(/\{\{\s*([\w.|-]+)\s*\}\}/g)].map(([, name]) => name as string))
    const fragments = new Set([...text.matchAll(/fragment-id="([^"]+)"/g)].map(([, id]) => id as string))
    const resources = new Set(
      [...text.matchAll(/managed-identity[^>]*?resource="([^"]+)"/g)].map(([, id]) => id as string),
    )
    const isFragment = /^\s*<fragment/m.test(text)
    const lines = [
      "gateway g { listen 127.0.0.1:8000 }",
      `backend b { url "${upstream.url}" }`,
      ...[...names].map(
        (name) =>
          `value ${name.replaceAll(/[^A-Za-z0-9_]/g, "_")} = "${/url|uri|endpoint|send|server$/i.test(name) ? upstream.url : "60"}"`,
      ),
      "secret s = env(SECRET)",
      `token t { url "${upstream.url}/token"; client "gw" secret s }`,
      `xml { fragment "self" "doc.xml"`,
      ...[...resources].map((resource) => `  identity "${resource}" t`),
      ...[...fragments].map((id) => `  fragment "${id}" "empty.xml"`),
      "}",
      `api a { path "/a"; backend b; auth none; policy xml "${isFragment ? "whole.xml" : "doc.xml"}"; ANY "/{id*}" {} }`,
    ]
    const whole = `<policies><inbound><base /><include-fragment fragment-id="self" /></inbound></policies>`
    return [
      ["gateway.conf", lines.join("\n")],
      ["doc.xml", text],
      ["whole.xml", whole],
      ["empty.xml", "<fragment />"],
    ]
  }

  const files = conformanceFiles("apim").filter((path) => path.endsWith(".xml") && !refused.has(nameOf(path)))

  test.each(files)("%s", async (path) => {
    const served = await serveDocuments(projectOf(path), { SECRET: "s" })
    try {
      const answer = await fetch(`${served.url}/a/1?code=c&state=s`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Basic YTpi" },
        body: '{"a":1}',
        redirect: "manual",
      })
      expect(answer.status, served.log.at(-1)?.cause).toBe(statuses[nameOf(path)] ?? 200)
    } finally {
      await served.close()
    }
  })
})

function nameOf(path: string): string {
  return path.slice("apim/".length)
}
