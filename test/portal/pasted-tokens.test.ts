import { expect, test } from "vitest"
import { withPastedTokens } from "../../runtime/portal/page/swagger/pasted-tokens.ts"

const oauth = {
  type: "oauth2",
  description: "Our login.",
  flows: {
    authorizationCode: {
      authorizationUrl: "https://id.example/auth",
      tokenUrl: "https://id.example/token",
      scopes: { read: "Read orders", write: "" },
    },
    implicit: { authorizationUrl: "https://id.example/auth" },
  },
}
const key = { type: "apiKey", in: "header", name: "x-api-key" }

test("logins of OAuth 2.0 and OpenID Connect become bearer tokens that say where to get one", () => {
  const openIdConnect = { type: "openIdConnect", openIdConnectUrl: "https://id.example/openid" }
  const document = { openapi: "3.1.0", components: { securitySchemes: { oauth, openIdConnect, key } } }
  expect(withPastedTokens(document)).toEqual({
    openapi: "3.1.0",
    components: {
      securitySchemes: {
        oauth: {
          type: "http",
          scheme: "bearer",
          description: [
            "Our login.\n\nA token of OAuth 2.0:\n",
            "- authorizationCode: `https://id.example/auth`, `https://id.example/token`",
            "  - `read`: Read orders",
            "  - `write`",
            "- implicit: `https://id.example/auth`",
          ].join("\n"),
        },
        openIdConnect: {
          type: "http",
          scheme: "bearer",
          description: "A token of OpenID Connect, as `https://id.example/openid` describes.",
        },
        key,
      },
    },
  })
})
