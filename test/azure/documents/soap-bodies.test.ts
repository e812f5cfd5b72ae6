import { afterEach, expect, test } from "vitest"
import { type Answering, startUpstream } from "../../gateway/harness.ts"
import { serveDocuments } from "./serving.ts"

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

/** A SOAP service made into JSON the way an import of its WSDL writes it. */
const document = `<policies>
  <inbound>
    <base />
    <rewrite-uri template="/stock.asmx" copy-unmatched-params="false" />
    <set-header name="SOAPAction" exists-action="override"><value>"urn:stock/List"</value></set-header>
    <set-body template="liquid">
      <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><List xmlns="urn:stock">
        {% if body.list.place %}<Place>{{body.list.place | Escape}}</Place>{% else %}<Place />{% endif %}
        <Asked>{{context.Request.Url.Scheme}} {{context.Request.Url.Path}} {{context.Request.OriginalUrl.Path}} {{context.Request.OriginalUrl.Query.q}}</Asked>
      </List></s:Body></s:Envelope>
    </set-body>
    <set-header name="Content-Type" exists-action="override"><value>text/xml</value></set-header>
  </inbound>
  <outbound>
    <base />
    <choose>
      <when condition="@(context.Response.StatusCode < 400)">
        <set-body template="liquid">
        {
          "note": {% if body.envelope.body.ListResponse.Note %}"{{body.envelope.body.ListResponse.Note | Replace: '\\r', '\\r' | Replace: '\\n', '\\n' | Replace: '([^\\\\](\\\\\\\\)*)"', '$1\\"'}}"{% else %} null {% endif %},
          "items": [{% JSONArrayFor item in body.envelope.body.ListResponse.Items -%}{"id": {{item.Id}}, "name": "{{item.Name}}"}{% endJSONArrayFor -%}]
        }</set-body>
      </when>
      <otherwise>
        <set-body template="liquid">{"error": {"code": "{{body.envelope.body.fault.faultcode}}", "message": "{{body.envelope.body.fault.faultstring}}"}}</set-body>
      </otherwise>
    </choose>
    <set-header name="Content-Type" exists-action="override"><value>application/json</value></set-header>
  </outbound>
</policies>`

const item = (id: number): string => `<m:Item><m:Id>${id}</m:Id><m:Name>n${id}</m:Name></m:Item>`
const listed = (...ids: number[]): string =>
  `<m:ListResponse xmlns:m="urn:stock"><m:Note xml:lang="en">a "b"\nc</m:Note><m:Items>${ids.map(item).join("")}</m:Items></m:ListResponse>`
const fault = `<soap:Fault><faultcode xmlns="">soap:Server</faultcode><faultstring>No place</faultstring></soap:Fault>`

test.each([
  ["many", 200, listed(1, 2), { note: 'a "b"\nc', items: [1, 2].map((id) => ({ id, name: `n${id}` })) }],
  ["one", 200, listed(7), { note: 'a "b"\nc', items: [{ id: 7, name: "n7" }] }],
  ["none", 200, '<ListResponse xmlns="urn:stock"><Items /></ListResponse>', { note: null, items: [] }],
  ["a fault", 500, fault, { error: { code: "soap:Server", message: "No place" } }],
])("a SOAP service answers JSON: %s", async (_, status, inside, expected) => {
  const answer: Answering = (request, response) => {
    request.resume()
    request.on("end", () => {
      response.writeHead(status, { "content-type": "text/xml; charset=utf-8" })
      response.end(
        `<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${inside}</soap:Body></soap:Envelope>`,
      )
    })
  }
  const upstream = await startUpstream(answer)
  open.push(upstream)
  const served = await serveDocuments([
    [
      "gateway.conf",
      `gateway g { listen 127.0.0.1:8000; errors apim }
backend b { url "${upstream.url}/soap" }
api a { path "/a"; backend b; auth none; policy xml "doc.xml"; POST "/list" {} }`,
    ],
    ["doc.xml", document],
  ])
  open.push(served)
  const response = await fetch(`${served.url}/a/list?q=1`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"list":{"place":"a & b"}}',
  })
  expect([response.status, await response.json()]).toEqual([status, expected])
  const [asked] = upstream.requests
  expect([asked?.url, asked?.headers["content-type"]]).toEqual(["/soap/stock.asmx", "text/xml"])
  expect(asked?.body.replaceAll(/\s+/g, " ")).toContain(
    "<Place>a &amp; b</Place> <Asked>http /soap/stock.asmx /a/list 1</Asked>",
  )
})
