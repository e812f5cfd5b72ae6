import { utf8Text } from "#platform"
import { CsDictionary, CsList, KeyValuePair } from "../collections.ts"
import type { OutPlace } from "../context-object.ts"
import { CsException } from "../errors.ts"
import { JArray, JObject } from "../json-tree.ts"
import { chargeText } from "../run.ts"
import { declareType } from "../table.ts"
import type { CsType } from "../type.ts"
import { elementsOf, toText } from "../values.ts"
import { cipher } from "./aes.ts"
import { Body, Lists, Request, Response, Texts, Url } from "./context-objects.ts"
import { Certificate } from "./crypto.ts"
import { readJson } from "./json-read.ts"
import { asBasic, asJwt } from "./jwt.ts"
import { escapeData, makeUri, parseForm } from "./web.ts"
import { readDocument, readElement } from "./xml-common.ts"

/** A body as one of the types that a policy can request. An absent body is null or the empty text; an empty body is null as JSON. */
function bodyAs(types: readonly CsType[], self: Body | null): unknown {
  const [type] = types
  if (self === null || !self.source.present) return type?.name === "string" ? "" : null
  const bytes = self.source.content()
  chargeText(bytes.length)
  if (type?.name === "[]") return new Uint8Array(bytes)
  const text = decode(bytes)
  switch (type?.name) {
    case "string":
    case "object":
      return text
    case "JObject":
    case "JToken":
    case "JArray":
      return text.trim() === "" ? null : jsonBody(text, type.name)
    case "XElement":
    case "XNode":
      return readElement(text)
    case "XDocument":
      return readDocument(text)
    default:
      throw new CsException("InvalidCastException", `A body cannot be read as ${type?.name ?? "this"}.`)
  }
}

/** The body as a token; another kind of root throws, as the cast does in Azure API Management. */
function jsonBody(text: string, name: string): unknown {
  const token = readJson(text)
  if (
    (name === "JObject" && !(token instanceof JObject)) ||
    (name === "JArray" && !(token instanceof JArray))
  )
    throw new CsException("InvalidCastException", `The body is JSON, but no ${name}.`)
  return token
}

function decode(bytes: Uint8Array): string {
  const text = utf8Text(bytes)
  return text.startsWith("\ufeff") ? text.slice(1) : text
}

/** Members of `context.Request`. */
const requestRows: Record<string, (...values: never[]) => unknown> = {
  // Null without a body, because documents test `Body != null` and `Body?.As<JObject>()`.
  "Body: IMessageBody": (self: Request) => (self.source.body.present ? new Body(self.source.body) : null),
  "Certificate: X509Certificate2": (self: Request) =>
    self.source.certificate === undefined ? null : new Certificate(self.source.certificate),
  "Headers: IHeaders": (self: Request) => new Lists(self.source.headers),
  "IpAddress: string": (self: Request) => self.source.ipAddress,
  "MatchedParameters: IMatchedParameters": (self: Request) => new Texts(self.source.matchedParameters),
  "Method: string": (self: Request) => self.source.method,
  "OriginalUrl: IUrl": (self: Request) => new Url(self.source.originalUrl),
  "Url: IUrl": (self: Request) => new Url(self.source.url),
  "PrivateEndpointConnection: object": () => null,
}

const listRows: Record<string, (...values: never[]) => unknown> = {
  "GetValueOrDefault(string name): string": (self: Lists, name: string) => self.joined(name, null),
  "GetValueOrDefault(string name, string fallback): string": (
    self: Lists,
    name: string,
    fallback: string | null,
  ) => self.joined(name, fallback),
}

export function declareMessages(): void {
  declareType(
    "IMessageBody",
    { holds: (value) => value instanceof Body },
    {
      // Callable on null: if no body is required, documents do not test for one.
      "extension typed As<R>(bool preserveContent = false): R": bodyAs,
      "extension AsFormUrlEncodedContent(bool preserveContent = false): IDictionary<string, IList<string>>": (
        self: Body | null,
      ) => (self?.source.present === true ? parseForm(decode(self.source.content())) : new CsDictionary()),
    },
  )
  declareType(
    "IUrl",
    { holds: (value) => value instanceof Url },
    {
      "Scheme: string": (self: Url) => self.source.scheme,
      "Host: string": (self: Url) => self.source.host,
      "Port: int": (self: Url) => self.source.port,
      "Path: string": (self: Url) => self.source.path,
      "QueryString: string": (self: Url) => self.source.queryString,
      "Query: IQuery": (self: Url) => new Lists(self.source.query),
      "ToUri(): Uri": (self: Url) => makeUri(self.text()),
    },
  )
  for (const name of ["IHeaders", "IQuery"])
    declareType(
      name,
      { bases: ["IReadOnlyDictionary<string, string[]>"], holds: (value) => value instanceof Lists },
      listRows,
    )
  declareType(
    "IMatchedParameters",
    { bases: ["IReadOnlyDictionary<string, string>"], holds: (value) => value instanceof Texts },
    {
      "GetValueOrDefault(string name): string": (self: CsDictionary, name: string) =>
        self.find(name)?.value ?? null,
      "GetValueOrDefault(string name, string fallback): string": (
        self: CsDictionary,
        name: string,
        fallback: string | null,
      ) => self.find(name)?.value ?? fallback,
    },
  )
  declareType("IRequest", { holds: (value) => value instanceof Request }, requestRows)
  declareType(
    "IResponse",
    { holds: (value) => value instanceof Response },
    {
      "Body: IMessageBody": (self: Response) => new Body(self.source.body),
      "Headers: IHeaders": (self: Response) => new Lists(self.source.headers),
      "StatusCode: int": (self: Response) => self.source.status,
      "StatusReason: string": (self: Response) => self.source.reason,
    },
  )
}

/** Extension methods of policies for texts, bytes and dictionaries. They are declared separately from the types that they extend. */
export const stringExtensions = {
  "extension AsJwt(): Jwt": asJwt,
  "extension AsBasic(): BasicAuthCredentials": asBasic,
  "extension TryParseJwt(out Jwt result): bool": (self: string | null, out: OutPlace) => {
    const found = asJwt(self)
    out.set(found)
    return found !== null
  },
  "extension TryParseBasic(out BasicAuthCredentials result): bool": (self: string | null, out: OutPlace) => {
    const found = asBasic(self)
    out.set(found)
    return found !== null
  },
}

/** Extensions of sequences that policy expressions have and .NET lacks. */
export const sequenceExtensions = {
  "Encrypt(string algorithm, byte[] key, byte[] iv): byte[]": (
    self: unknown,
    algorithm: string,
    key: Uint8Array,
    iv: Uint8Array,
  ) => cipher(true, algorithm, self as Uint8Array, key, iv),
  "Decrypt(string algorithm, byte[] key, byte[] iv): byte[]": (
    self: unknown,
    algorithm: string,
    key: Uint8Array,
    iv: Uint8Array,
  ) => cipher(false, algorithm, self as Uint8Array, key, iv),
  "ToFormUrlEncodedContent(): string": (self: unknown) => {
    const pairs: string[] = []
    for (const pair of elementsOf(self)) {
      if (!(pair instanceof KeyValuePair)) continue
      const values =
        Array.isArray(pair.value) || pair.value instanceof CsList ? elementsOf(pair.value) : [pair.value]
      for (const value of values) pairs.push(`${form(pair.key)}=${form(value)}`)
    }
    return pairs.join("&")
  },
}

function form(value: unknown): string {
  return escapeData(toText(value)).replace(/%20/g, "+")
}
