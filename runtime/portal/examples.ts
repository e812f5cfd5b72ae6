import type { DocumentObject, DocumentValue, ExampleLanguage, ExampleRequest } from "./api.ts"
import { type DocumentedOperation, listOf, objectOf, textOf } from "./document.ts"
import { sampleOf } from "./sample.ts"

/** An operation with the components that it refers to. */
interface Described extends Pick<DocumentedOperation, "method" | "operation"> {
  /** The whole path template, from the root of the gateway. */
  readonly path: string
  readonly schemas: DocumentObject
  readonly securitySchemes: DocumentObject
}

/** A request with what the operation requires, and with placeholders for credentials. */
export function exampleRequest({
  method,
  path,
  operation,
  schemas,
  securitySchemes,
}: Described): ExampleRequest {
  const parameters = listOf(operation["parameters"]).map(objectOf)
  const of = (place: string) => parameters.filter((each) => each["in"] === place)
  const sampleIn = (parameter: DocumentObject) => plainText(parameterSample(parameter, schemas))
  const filled = path.replace(/\{([^}*]+)\*?\}/g, (all, name: string) => {
    const parameter = of("path").find((each) => each["name"] === name)
    return parameter === undefined ? all : encodeURIComponent(sampleIn(parameter))
  })
  const query = new URLSearchParams()
  for (const each of of("query"))
    if (each["required"] === true) query.set(textOf(each["name"]) ?? "", sampleIn(each))
  const headers: [string, string][] = of("header").flatMap((each) =>
    each["required"] === true ? [[textOf(each["name"]) ?? "", sampleIn(each)] as [string, string]] : [],
  )
  addCredentials(operation, securitySchemes, headers, query)
  const body = bodyOf(operation, schemas)
  if (body !== undefined) headers.push(["Content-Type", body.media])
  const search = query.size === 0 ? "" : `?${query}`
  return { method, url: filled + search, headers, body: body?.text ?? null }
}

function parameterSample(parameter: DocumentObject, schemas: DocumentObject): DocumentValue {
  if (parameter["example"] !== undefined) return parameter["example"]
  const [first] = Object.values(objectOf(parameter["examples"]))
  return objectOf(first)["value"] ?? sampleOf(parameter["schema"], schemas)
}

function plainText(value: DocumentValue): string {
  if (Array.isArray(value)) return value.map(plainText).join(",")
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

/** The first alternative of the operation's security. */
function addCredentials(
  operation: DocumentObject,
  schemes: DocumentObject,
  headers: [string, string][],
  query: URLSearchParams,
): void {
  const [way] = listOf(operation["security"])
  for (const name of Object.keys(objectOf(way))) {
    const scheme = objectOf(schemes[name])
    if (scheme["type"] === "apiKey") {
      const key = textOf(scheme["name"]) ?? ""
      if (scheme["in"] === "header") headers.push([key, "YOUR_KEY"])
      else if (scheme["in"] === "query") query.set(key, "YOUR_KEY")
    } else if (scheme["scheme"] === "basic") headers.push(["Authorization", "Basic YOUR_CREDENTIALS"])
    else if (scheme["type"] !== "mutualTLS") headers.push(["Authorization", "Bearer YOUR_TOKEN"])
  }
}

function bodyOf(
  operation: DocumentObject,
  schemas: DocumentObject,
): { readonly media: string; readonly text: string } | undefined {
  const contents = Object.entries(objectOf(objectOf(operation["requestBody"])["content"]))
  const isJson = (media: string) => /[/+]json\b/.test(media)
  const [media, content] = contents.find(([each]) => isJson(each)) ?? contents[0] ?? []
  if (media === undefined) return undefined
  const { example, examples, schema } = objectOf(content)
  const [first] = Object.values(objectOf(examples))
  const value = example ?? objectOf(first)["value"] ?? sampleOf(schema, schemas)
  if (media === "application/x-www-form-urlencoded") {
    const fields = Object.entries(objectOf(value)).map(([name, each]) => [name, plainText(each)] as const)
    return { media, text: new URLSearchParams(Object.fromEntries(fields)).toString() }
  }
  return { media, text: typeof value === "string" && !isJson(media) ? value : JSON.stringify(value, null, 2) }
}

/** The request as source text. `gateway`: scheme and host. */
export function exampleTexts(
  request: ExampleRequest,
  gateway: string,
): Readonly<Record<ExampleLanguage, string>> {
  const whole = { ...request, url: gateway + request.url }
  return {
    curl: curl(whole),
    javascript: javascript(whole),
    python: python(whole),
    go: go(whole),
    java: java(whole),
    csharp: csharp(whole),
  }
}

/** A string literal of JavaScript, Python, Go, Java and C#: they all read the escapes of JSON. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}

/** A word of a POSIX shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function lines(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join("\n")
}

function curl({ method, url, headers, body }: ExampleRequest): string {
  return [
    `curl --request ${method} ${shellQuoted(url)}`,
    ...headers.map(([name, value]) => `--header ${shellQuoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${shellQuoted(body)}`]),
  ].join(" \\\n  ")
}

function javascript({ method, url, headers, body }: ExampleRequest): string {
  return lines(
    `const response = await fetch(${quoted(url)}, {`,
    `  method: ${quoted(method)},`,
    headers.length > 0 && `  headers: {`,
    ...headers.map(([name, value]) => `    ${quoted(name)}: ${quoted(value)},`),
    headers.length > 0 && `  },`,
    body !== null && `  body: ${quoted(body)},`,
    "})",
    "console.log(response.status, await response.text())",
  )
}

function python({ method, url, headers, body }: ExampleRequest): string {
  return lines(
    "import urllib.request",
    "",
    "request = urllib.request.Request(",
    `    ${quoted(url)},`,
    `    method=${quoted(method)},`,
    headers.length > 0 && "    headers={",
    ...headers.map(([name, value]) => `        ${quoted(name)}: ${quoted(value)},`),
    headers.length > 0 && "    },",
    body !== null && `    data=${quoted(body)}.encode(),`,
    ")",
    "with urllib.request.urlopen(request) as response:",
    "    print(response.status, response.read().decode())",
  )
}

function go({ method, url, headers, body }: ExampleRequest): string {
  const from = body === null ? "nil" : `strings.NewReader(${quoted(body)})`
  return lines(
    "package main",
    "",
    "import (",
    '\t"fmt"',
    '\t"io"',
    '\t"net/http"',
    body !== null && '\t"strings"',
    ")",
    "",
    "func main() {",
    `\trequest, err := http.NewRequest(${quoted(method)}, ${quoted(url)}, ${from})`,
    "\tif err != nil {",
    "\t\tpanic(err)",
    "\t}",
    ...headers.map(([name, value]) => `\trequest.Header.Set(${quoted(name)}, ${quoted(value)})`),
    "\tresponse, err := http.DefaultClient.Do(request)",
    "\tif err != nil {",
    "\t\tpanic(err)",
    "\t}",
    "\tdefer response.Body.Close()",
    "\tbody, err := io.ReadAll(response.Body)",
    "\tif err != nil {",
    "\t\tpanic(err)",
    "\t}",
    "\tfmt.Println(response.StatusCode, string(body))",
    "}",
  )
}

function java({ method, url, headers, body }: ExampleRequest): string {
  const publisher =
    body === null
      ? "HttpRequest.BodyPublishers.noBody()"
      : `HttpRequest.BodyPublishers.ofString(${quoted(body)})`
  return lines(
    "import java.net.URI;",
    "import java.net.http.HttpClient;",
    "import java.net.http.HttpRequest;",
    "import java.net.http.HttpResponse;",
    "",
    "class Example {",
    "  public static void main(String[] arguments) throws Exception {",
    `    HttpRequest request = HttpRequest.newBuilder(URI.create(${quoted(url)}))`,
    ...headers.map(([name, value]) => `        .header(${quoted(name)}, ${quoted(value)})`),
    `        .method(${quoted(method)}, ${publisher})`,
    "        .build();",
    "    HttpResponse<String> response =",
    "        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());",
    '    System.out.println(response.statusCode() + " " + response.body());',
    "  }",
    "}",
  )
}

function csharp({ method, url, headers, body }: ExampleRequest): string {
  const media = headers.find(([name]) => name === "Content-Type")?.[1] ?? "application/octet-stream"
  return lines(
    body !== null && "using System.Net.Http.Headers;",
    body !== null && "",
    "using var client = new HttpClient();",
    `using var request = new HttpRequestMessage(new HttpMethod(${quoted(method)}), ${quoted(url)});`,
    ...headers
      .filter(([name]) => name !== "Content-Type")
      .map(([name, value]) => `request.Headers.TryAddWithoutValidation(${quoted(name)}, ${quoted(value)});`),
    body !== null && `request.Content = new StringContent(${quoted(body)});`,
    body !== null && `request.Content.Headers.ContentType = MediaTypeHeaderValue.Parse(${quoted(media)});`,
    "using var response = await client.SendAsync(request);",
    'Console.WriteLine($"{(int)response.StatusCode} {await response.Content.ReadAsStringAsync()}");',
  )
}
