import { fromHex, utf8Text } from "#platform"
import { CsDictionary, type CsEnum, CsList } from "../collections.ts"
import type { OutPlace } from "../context-object.ts"
import { CsException } from "../errors.ts"
import { chargeText } from "../run.ts"
import { declareType } from "../table.ts"
import { CsObject } from "../values.ts"
import { declareEnum } from "./object.ts"

/** Unpaired surrogates become U+FFFD, because UTF-8 cannot represent them. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd")
}

/** RFC 3986: unreserved characters stay; all others are percent-encoded as UTF-8. */
export function escapeData(text: string): string {
  chargeText(text.length * 3)
  return encodeURIComponent(wellFormed(text)).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Percent-decodes a text; invalid sequences stay unchanged. */
export function unescapeData(text: string): string {
  chargeText(text.length)
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) => utf8Text(fromHex(run.replaceAll("%", ""))))
}

/** Form encoding like WebUtility: spaces as `+`, and `!*()` unchanged. */
export function urlEncode(text: string): string {
  return escapeData(text)
    .replace(/%20/g, "+")
    .replace(/%(21|2A|28|29)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/~/g, "%7E")
}

export function urlDecode(text: string): string {
  return unescapeData(text.replaceAll("+", " "))
}

/** The characters that .NET's `HtmlEncode` encodes, including those from U+00A0 to U+00FF. */
function htmlEncode(text: string): string {
  chargeText(text.length * 6)
  return text.replace(/[&<>"'\u00a0-\u00ff]|[\ud800-\udbff][\udc00-\udfff]/g, (c) => {
    const known: Readonly<Record<string, string>> = {
      "&": "&amp;",
      "<": "&lt;",
      ">": "&gt;",
      '"': "&quot;",
      "'": "&#39;",
    }
    return Object.hasOwn(known, c) ? (known[c] as string) : `&#${c.codePointAt(0)};`
  })
}

/** The named entities that are decoded; other names stay as they are. */
const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  euro: "€",
  hellip: "…",
  ndash: "–",
  mdash: "—",
}

/** Numeric and named entities. Code points outside of Unicode stay as they are. */
function htmlDecode(text: string): string {
  chargeText(text.length)
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z]{2,10}));/g,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return Object.hasOwn(entities, name) ? (entities[name] as string) : whole
      const code = decimal === undefined ? Number.parseInt(hex ?? "0", 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}

const orNull =
  (run: (text: string) => string) =>
  (text: string | null): string | null =>
    text === null ? null : run(text)

/** Parses `a=1&b=2` to a dictionary of lists, with decoded names and values. */
export function parseForm(text: string): CsDictionary {
  const made = new CsDictionary("ignore-case")
  for (const pair of text.split("&")) {
    if (pair === "") continue
    const at = pair.indexOf("=")
    const [name, value] = at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)]
    const key = urlDecode(name)
    const known = made.find(key)
    if (known === undefined) made.add(key, new CsList([urlDecode(value)]))
    else (known.value as CsList).add(urlDecode(value))
  }
  return made
}

/** System.Uri of an absolute or relative address. */
export class CsUri extends CsObject {
  readonly typeName = "System.Uri"
  readonly original: string
  readonly url: URL | undefined
  constructor(original: string, url: URL | undefined) {
    super()
    this.original = original
    this.url = url
  }
  get absolute(): URL {
    if (this.url === undefined)
      throw new CsException(
        "InvalidOperationException",
        "This operation is not supported for a relative URI.",
      )
    return this.url
  }
  override text(): string {
    return this.url === undefined ? this.original : unescapeVisible(this.url.href)
  }
  override same(other: unknown): boolean {
    return other instanceof CsUri && other.text() === this.text()
  }
  override hash(): unknown {
    return `uri:${this.text()}`
  }
}

/** `Uri.ToString()` decodes percent-encoded characters if that is safe. */
function unescapeVisible(text: string): string {
  return text.replace(/%(2[12]|3[CE]|5[CE]|6\d|7[BCD]|20)/gi, (whole) => unescapeData(whole))
}

/** `new Uri(text)`. @throws UriFormatException */
export function makeUri(text: string, base?: CsUri): CsUri {
  const trimmed = text.trim()
  chargeText(trimmed.length * 4)
  const isAbsolute = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(trimmed)
  if (!isAbsolute && base === undefined)
    throw new CsException("UriFormatException", "Invalid URI: The format of the URI could not be determined.")
  try {
    return new CsUri(trimmed, new URL(trimmed, base?.absolute))
  } catch {
    throw new CsException("UriFormatException", "Invalid URI: The hostname could not be parsed.")
  }
}

const ports: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "ftp:": 21,
  "ws:": 80,
  "wss:": 443,
}
const portOf = (url: URL): number => (url.port === "" ? (ports[url.protocol] ?? -1) : Number(url.port))

/** `WebUtility` and `HttpUtility`. The second writes hexadecimal digits in lower case, as in .NET. */
export function declareWeb(): void {
  declareType(
    "WebUtility",
    {},
    {
      "static UrlEncode(string text): string": orNull(urlEncode),
      "static UrlDecode(string text): string": orNull(urlDecode),
      "static HtmlEncode(string text): string": orNull(htmlEncode),
      "static HtmlDecode(string text): string": orNull(htmlDecode),
    },
  )
  declareType(
    "HttpUtility",
    {},
    {
      "static UrlEncode(string text): string": orNull((text) =>
        urlEncode(text).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
      ),
      "static UrlDecode(string text): string": orNull(urlDecode),
      "static HtmlEncode(string text): string": orNull(htmlEncode),
      "static HtmlDecode(string text): string": orNull(htmlDecode),
      "static ParseQueryString(string text): NameValueCollection": (text: string) =>
        parseForm(text.replace(/^\?/, "")),
    },
  )
  declareType(
    "NameValueCollection",
    { holds: (value) => value instanceof CsDictionary },
    {
      "this[string name]: string": (self: CsDictionary, name: string) => joined(self, name),
      "Get(string name): string": joined,
      "AllKeys: string[]": (self: CsDictionary) => self.keys(),
      "Keys: List<string>": (self: CsDictionary) => new CsList(self.keys()),
      "Count: int": (self: CsDictionary) => self.size,
    },
  )
  declareUri()
}

function joined(self: CsDictionary, name: string): string | null {
  const found = self.find(name)
  return found === undefined ? null : (found.value as CsList).items.join(",")
}

/** The start of a URI up to a part, in the order of `UriPartial`. */
function leftPart({ absolute }: CsUri, { value }: CsEnum): string {
  const { protocol, username, password, host, pathname, search } = absolute
  const user = username === "" ? "" : `${username}${password === "" ? "" : `:${password}`}@`
  return [`${protocol}//`, `${user}${host}`, pathname, search].slice(0, value + 1).join("")
}

function declareUri(): void {
  declareEnum("UriKind", "System", { RelativeOrAbsolute: 0, Absolute: 1, Relative: 2 })
  declareEnum("UriPartial", "System", { Scheme: 0, Authority: 1, Path: 2, Query: 3 })
  declareType(
    "Uri",
    { holds: (value) => value instanceof CsUri },
    {
      "static EscapeDataString(string text): string": escapeData,
      "static UnescapeDataString(string text): string": unescapeData,
      "static EscapeUriString(string text): string": (text: string) => {
        chargeText(text.length * 3)
        return encodeURI(wellFormed(text))
      },
      "static IsWellFormedUriString(string text, UriKind kind): bool": (text: string | null) =>
        text !== null && URL.canParse(text),
      "static TryCreate(string text, UriKind kind, out Uri result): bool": (
        text: string | null,
        kind: { has(name: string): boolean },
        out: OutPlace,
      ) => {
        try {
          out.set(
            kind.has("Absolute") || URL.canParse(text ?? "")
              ? makeUri(text ?? "")
              : new CsUri(text ?? "", undefined),
          )
          return true
        } catch {
          out.set(null)
          return false
        }
      },
      "new(string text): Uri": (text: string) => makeUri(text),
      "new(string text, UriKind kind): Uri": (text: string) =>
        URL.canParse(text) ? makeUri(text) : new CsUri(text, undefined),
      "new(Uri base, string relative): Uri": (base: CsUri, relative: string) => makeUri(relative, base),
      "Scheme: string": (self: CsUri) => self.absolute.protocol.slice(0, -1),
      "Host: string": (self: CsUri) => self.absolute.hostname,
      "DnsSafeHost: string": (self: CsUri) => self.absolute.hostname.replace(/^\[|\]$/g, ""),
      "Authority: string": (self: CsUri) => self.absolute.host,
      "Port: int": (self: CsUri) => portOf(self.absolute),
      "AbsolutePath: string": (self: CsUri) => self.absolute.pathname,
      "LocalPath: string": (self: CsUri) => unescapeData(self.absolute.pathname),
      "PathAndQuery: string": (self: CsUri) => self.absolute.pathname + self.absolute.search,
      "Query: string": (self: CsUri) => self.absolute.search,
      "Fragment: string": (self: CsUri) => self.absolute.hash,
      "UserInfo: string": (self: CsUri) => {
        const { username, password } = self.absolute
        return password === "" ? username : `${username}:${password}`
      },
      "AbsoluteUri: string": (self: CsUri) => self.absolute.href,
      "OriginalString: string": (self: CsUri) => self.original,
      "IsAbsoluteUri: bool": (self: CsUri) => self.url !== undefined,
      "IsDefaultPort: bool": (self: CsUri) => self.absolute.port === "",
      "GetLeftPart(UriPartial part): string": leftPart,
      "Segments: string[]": (self: CsUri) => self.absolute.pathname.match(/[^/]*\/|[^/]+$/g) ?? [],
    },
  )
}
