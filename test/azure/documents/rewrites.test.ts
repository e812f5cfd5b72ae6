import { expect, test } from "vitest"
import { standing } from "./serving.ts"

// Published documents put an address together and leave parameters of the operation in it: `@("/messages/" + … + "/{messageId}")`.
const document = `<policies>
  <inbound>
    <set-variable name="tail" value="/{order-id}/of" />
    <choose>
      <when condition="@(context.Request.Method == "GET")">
        <rewrite-uri template="@("/v2" + (string)context.Variables["tail"] + "/{*rest}?by={order-id}")" />
      </when>
      <when condition="@(context.Request.Method == "PUT")">
        <rewrite-uri template="/v3/@(context.Request.Headers.GetValueOrDefault("X-Part", "p"))/{order-id}" />
      </when>
      <otherwise><rewrite-uri template="@("/v2/{rest}/{constructor}")" /></otherwise>
    </choose>
  </inbound>
</policies>`

const at = standing((backend) => [
  [
    "gateway.conf",
    `gateway g { listen 127.0.0.1:8000 }
backend b { url "${backend}/base" }
api a { path "/a"; backend b; auth none; policy xml "doc.xml"; ANY "/{order_id}/{rest*}" {} }`,
  ],
  ["doc.xml", document],
])

async function asked(method: string, path: string, headers: Record<string, string> = {}): Promise<string> {
  const before = at.upstream.requests.length
  const answer = await fetch(`${at.served.url}/a/${path}`, { method, headers })
  await answer.text()
  return at.upstream.requests.length > before ? (at.upstream.requests.at(-1)?.url ?? "") : `${answer.status}`
}

test("what an expression makes is a template: parameters of the route stand for their names, encoded", async () => {
  expect(await asked("PUT", "7/x")).toBe("/base/v3/p/7")
  expect(await asked("PUT", "a%3Fb/x", { "x-part": "{order-id}" })).toBe("/base/v3/a%3Fb/a%3Fb")
  expect(await asked("GET", "7/x%20y/z")).toBe("/base/v2/7/of/x%20y/z?by=7")
})

test("a parameter brings no query and no way out of the path", async () => {
  expect(await asked("GET", "a&b/x%3Fadmin=1")).toBe("/base/v2/a&b/of/x%3Fadmin=1?by=a%26b")
})

test("braces around what the route does not have, or the document does not name there, are refused wherever they come from", async () => {
  expect(await asked("POST", "7/x")).toBe("400")
  expect(await asked("PUT", "7/x", { "x-part": "{constructor}" })).toBe("400")
  expect(await asked("PUT", "7/x", { "x-part": "{rest}" })).toBe("400")
})
