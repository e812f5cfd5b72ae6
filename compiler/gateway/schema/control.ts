import { controlRoles } from "../../../runtime/plan/control.ts"
import { many, optional, type StatementRow, slot, word } from "./row.ts"
import { listen, listenHttp2, listenTls, proxyProtocol } from "./top.ts"

export const controlRows: readonly StatementRow[] = [
  {
    ...listen,
    required: false,
    byDefault: "only the address of `SALLYPORT_CONTROL_LISTEN`",
    forms: [{ args: [many(slot("address", "address"), 16)], block: "control listen" }],
    docs: "Addresses of the control API, in addition to that of `SALLYPORT_CONTROL_LISTEN`. If it is the same address, that listener uses this block while the plan runs. Without a block, operators use plain HTTP.",
    example: "listen 127.0.0.1:8443",
  },
  {
    keyword: "auth",
    several: 20,
    forms: [
      {
        args: [word("jwt"), slot("issuer", "reference", { to: ["issuer"] })],
        block: "control jwt",
        blockRequired: true,
      },
    ],
    byDefault: "operators have the shared token, or tokens made by `sallyport control-token create`",
    docs: "Operators are people with tokens of this issuer, and their claims give them roles. The issuer must have an `audience`.",
    example: 'auth jwt staff { role admin claim "groups" "platform" }',
  },
  {
    keyword: "shared-token",
    forms: [{ args: [slot("choice", "choice", { choices: ["on", "off"] })] }],
    byDefault: "on",
    docs: "Whether the token of `SALLYPORT_CONTROL_TOKEN` is accepted while the plan runs, with the role `admin`. Nobody can see who used it.",
    example: "shared-token off",
  },
  {
    keyword: "try-it",
    forms: [
      {
        args: [
          optional(slot("console", "url", { label: '"CONSOLE"' })),
          optional(word("gateway"), slot("gateway", "url", { label: '"GATEWAY"' })),
        ],
      },
    ],
    byDefault: "the console sends no requests to the gateway",
    docs: "The console offers to send requests to the gateway, with a key or token that the operator enters. All routes get CORS for the console's origin, without cookies; a route with a `cors` of its own decides itself. The browser sends the requests, so every rule of a route holds for them. Without `CONSOLE`, the origin is the first address of `listen` in this block; without `GATEWAY`, it is that of the gateway.",
    example: 'try-it "https://console.acme.example" gateway "https://api.acme.example"',
  },
]

/** In the block of a `listen` of the control API. */
export const controlListenRows: readonly StatementRow[] = [listenTls, listenHttp2, proxyProtocol]

/** In the block of `auth jwt` of the control API. */
export const controlJwtRows: readonly StatementRow[] = [
  {
    keyword: "role",
    several: 100,
    required: true,
    forms: [
      {
        args: [
          slot("role", "choice", { choices: [...controlRoles] }),
          optional(
            word("claim"),
            slot("claim", "constant", { max: 256 }),
            many(slot("value", "constant", { max: 1024 }), 100),
          ),
        ],
      },
    ],
    docs: "The role of tokens whose claim is, or contains, one of these values; without `claim`, of every token. `viewer` reads, `operator` also changes subscriptions and tuples, `publisher` also applies plans, `admin` may do everything. The highest role counts. A path with dots leads into objects: `realm_access.roles`.",
    example: 'role publisher claim "groups" "developers" "qa"',
  },
  {
    keyword: "group",
    several: 100,
    forms: [
      {
        args: [
          slot("group", "constant", { max: 256, label: '"GROUP"' }),
          word("claim"),
          slot("claim", "constant", { max: 256 }),
          many(slot("value", "constant", { max: 1024 }), 100),
        ],
      },
    ],
    byDefault: "no groups",
    docs: "Tokens whose claim is, or contains, one of these values are in this group. Statements of `change` name groups whose consent a plan needs. A group alone may do nothing: it needs a role, too.",
    example: 'group "security" claim "groups" "security-team"',
  },
  {
    keyword: "name",
    forms: [{ args: [slot("claim", "constant", { max: 256 })] }],
    byDefault: "`sub`",
    docs: "The claim with the name of a person, for the history. A token without it is refused.",
    example: 'name "preferred_username"',
  },
  {
    keyword: "login",
    forms: [
      {
        args: [
          slot("client", "constant", { max: 256 }),
          optional(word("scope"), slot("scope", "constant", { max: 1024 })),
        ],
      },
    ],
    byDefault: "`sallyport login` does not offer this issuer",
    docs: "The public client with which `sallyport login` gets tokens of people by the code of a device (RFC 8628), and the scope to ask for. The provider must allow this grant for the client. With the authorization code grant as well, people sign in to the console by it. Everybody who can reach the control API can read both.",
    example: 'login "sallyport-cli" scope "openid groups"',
  },
]
