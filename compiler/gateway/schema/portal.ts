import { many, oneOf, type StatementRow, slot, word } from "./row.ts"
import { listen, listenHttp2, listenTls, proxyProtocol } from "./top.ts"

/** The statements in `portal`. */
export const portalRows: readonly StatementRow[] = [
  {
    ...listen,
    forms: [{ args: [many(slot("address", "address"), 16)], block: "portal listen" }],
    docs: "Addresses of the portal. Without a block, browsers use plain HTTP, and keep sessions only on this machine.",
    example: "listen 127.0.0.1:8090",
  },
  {
    keyword: "apis",
    required: true,
    several: true,
    forms: [
      {
        args: [oneOf([word("all")], [many(slot("api", "reference", { to: ["api"] }), 1000)])],
      },
    ],
    docs: "The published APIs, with all their versions. Their operations come from the OpenAPI document of `openapi`, and without one from the routes. `all` also publishes every API that is added later.",
    example: "apis orders catalog",
  },
  {
    keyword: "title",
    forms: [{ args: [slot("title", "constant", { max: 200, label: '"TITLE"' })] }],
    byDefault: "the name of the gateway",
    docs: "The title of the portal.",
    example: 'title "Acme for developers"',
  },
  {
    keyword: "external",
    forms: [{ args: [slot("url", "url", { label: '"ORIGIN"' })] }],
    byDefault: "the first address of `listen`, if it is known",
    docs: "Scheme and host as browsers see the portal. Requests for another host are refused, except for IP addresses, `localhost` and the names of `SALLYPORT_HOSTS`.",
    example: 'external "https://developers.acme.example"',
  },
  {
    keyword: "gateway",
    forms: [{ args: [slot("url", "url", { label: '"ORIGIN"' })] }],
    byDefault: "the first address of the gateway, if it is known",
    docs: "Scheme and host as callers see the gateway, for the examples.",
    example: 'gateway "https://api.acme.example"',
  },
  {
    keyword: "try-it",
    forms: [{ args: [] }],
    byDefault: "the pages send no requests to the gateway",
    docs: "The pages offer to send requests to `gateway`, with the person's own key or token. Routes of the published APIs get CORS for `external`, without cookies; an API with a `cors` of its own decides itself, so add the origin of the portal there.",
    example: "try-it",
  },
  {
    keyword: "logo",
    forms: [{ args: [slot("path", "constant", { label: '"FILE.svg"' })] }],
    byDefault: "no logo",
    docs: "An SVG file of at most 256 KB. The plan contains it.",
    example: 'logo "portal/logo.svg"',
  },
  {
    keyword: "style",
    forms: [{ args: [slot("path", "constant", { label: '"FILE.css"' })] }],
    byDefault: "the colours of the portal",
    docs: "A style sheet of at most 256 KB that is loaded after that of the portal. Its custom properties are the colours. It cannot load anything from elsewhere.",
    example: 'style "portal/colours.css"',
  },
  {
    keyword: "texts",
    forms: [{ args: [slot("path", "constant", { label: '"FILE.json"' })] }],
    byDefault: "the texts of the portal",
    docs: "A JSON file with texts of the pages by their keys, for other words or another language.",
    example: 'texts "portal/texts.json"',
  },
  {
    keyword: "pages",
    several: 20,
    forms: [{ args: [slot("path", "constant", { label: '"FILES.md"' })] }],
    byDefault: "no pages of your own",
    docs: "Markdown files that become pages: a file, or a pattern. The name of the file without `.md` is the name of the page in URLs, its first heading is the title. At most 100 pages of 256 KB.",
    example: 'pages "portal/*.md"',
  },
  {
    keyword: "auth",
    forms: [{ args: [word("oidc"), slot("client", "reference", { to: ["oidc"], label: "CLIENT" })] }],
    byDefault: "nobody can sign in, so nobody can subscribe",
    docs: "People sign in with this client of an OpenID provider, whose sessions must be in cookies. The portal serves its `login`, `callback` and `logout` paths: register the callback at the provider.",
    example: "auth oidc portal_login",
  },
  {
    keyword: "owner",
    forms: [{ args: [slot("claim", "constant", { max: 256, label: '"CLAIM"' })] }],
    byDefault: '`"sub"`',
    docs: 'The claim of the ID token by which subscriptions belong to people: it must never be given to another person. With `"email"`, the provider must say that it has verified the address.',
    example: 'owner "sub"',
  },
]

/** In the block of a `listen` of the portal. */
export const portalListenRows: readonly StatementRow[] = [listenTls, listenHttp2, proxyProtocol]
