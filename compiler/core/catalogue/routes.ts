import { area } from "./entry.ts"

/** SP3xxx: routes and policies of gateway.conf. */
export const routes = area({
  SP3001: {
    severity: "error",
    title: "Invalid path",
    help: "Correct the path.",
    why: "A path starts with `/`; its segments are plain text, `{name}` for a parameter, or `{name*}` for all the rest, last. What no canonical request path can contain (`//`, `.`, `..`, `%`, `;`) can't be matched.",
  },
  SP3002: {
    severity: "error",
    title: "Ambiguous routes",
    help: "Change one of the paths, or remove one of the routes.",
    why: "The most specific route wins: text before parameter, parameter before tail, segment by segment. Two routes of one method with the same shape can't be told apart.",
  },
  SP3003: {
    severity: "warning",
    title: "Unreachable route",
    help: "Remove the operation.",
    why: "An operation of a version replaces the operation of the API with the same method and path. When every version replaces it, nothing reaches it.",
  },
  SP3004: {
    severity: "error",
    title: "Missing auth",
    help: "Add `auth jwt ISSUER`, `auth subscription`, or `auth none` if everybody may call it.",
    why: "An operation is open only when somebody wrote so. The nearest `auth` counts: operation, version, API, gateway.",
  },
  SP3005: {
    severity: "error",
    title: "Missing backend",
    help: "Add `backend NAME`, or answer with `respond`.",
    why: "A request that is let in must go somewhere: the nearest `backend` counts (operation, version, API), unless the inbound statements always answer.",
  },
  SP3006: {
    severity: "error",
    title: "Nothing to serve",
    help: 'Add an operation, e.g. `GET "/" { … }`.',
    why: "An API or a version without operations answers nothing but 404.",
  },
  SP3007: {
    severity: "error",
    title: "`auth none` beside another auth",
    help: "Remove one of them.",
    why: "Several `auth` lines of one block mean any of them; with `none` among them everybody gets in, whatever the others say.",
  },
  SP3008: {
    severity: "error",
    title: "Limit without identity",
    help: "Add `else ip`, or an `auth` that provides the key.",
    why: "A limit counts by something every caller has after `auth`: each way of `auth` must provide one of the keys.",
  },
  SP3009: {
    severity: "warning",
    title: "Limit by address without `trust`",
    help: "Add `trust NETWORK` to `gateway`, with the networks of the proxies in front.",
    why: "Behind a proxy every request comes from the proxy's address, and all callers share one limit. Only X-Forwarded-For of trusted proxies is believed.",
  },
  SP3010: {
    severity: "error",
    title: "Same limit twice",
    help: "Keep the lower one.",
    why: "Both limits would count the same calls: only the lower one ever refuses.",
  },
  SP3011: {
    severity: "warning",
    title: "Unreachable statement",
    help: "Remove the statement, or put it before the answer.",
    why: "`respond` ends the section: nothing after it runs.",
  },
  SP3012: {
    severity: "error",
    title: "Nothing to leave out",
    help: "Remove the `without`, or correct its name.",
    why: "`without` cuts what outer blocks bring: `without NAME` the uses of a policy, `without auth|limit|require|inbound|outbound` all statements of that keyword.",
  },
  SP3013: {
    severity: "error",
    title: "Secret would be shown",
    help: "Use secrets only in headers and query parameters of the request to a backend, and as keys of subscriptions.",
    why: "Answers, redirects, paths and decisions end up with callers and in logs.",
  },
  SP3014: {
    severity: "error",
    title: "Authorization engine on a public address",
    help: "Listen on a loopback or private address, or say `public` in `authz` if the network keeps others out.",
    why: "Whoever reaches the engine's API can write permissions. It is meant for services inside.",
  },
  SP3015: {
    severity: "error",
    title: "Address used twice",
    help: "Give one of them another port.",
    why: "Two listeners can't have one address and port; `0.0.0.0` takes a port on every IPv4 address, `[::]` on every address.",
  },
  SP3016: {
    severity: "error",
    title: "Too many",
    help: "Split the project, or leave some of it out.",
    why: "Everything has a limit, so that a mistake in a generated file is found here and not by a runtime out of memory.",
  },
  SP3017: {
    severity: "error",
    title: "One key for two subscriptions",
    help: "Give each subscription its own secret.",
    why: "A caller is told by the key. With one key for two, limits and logs would name the wrong one.",
  },
  SP3018: {
    severity: "warning",
    title: "Subscription opens nothing",
    help: "Add `auth subscription` to an API it covers, or remove the subscription.",
    why: "A key is looked at only where `auth subscription` asks for one.",
  },
  SP3019: {
    severity: "warning",
    title: "Backend's certificate is not checked",
    help: 'Give the authority\'s certificate with `ca file("…")` instead.',
    why: "With `insecure` anybody on the way can answer for the backend and read what is sent, tokens and keys among it.",
  },
  SP3020: {
    severity: "error",
    title: "Token without an audience",
    help: "Add `audience NAME`, or `any-audience` if tokens for other services are to be accepted.",
    why: "Without an audience, a token made for any other service of the issuer opens this one.",
  },
  SP3021: {
    severity: "error",
    title: "Nothing listens",
    help: "Add `gateway NAME { listen ADDRESS:PORT }`.",
    why: "Without a `gateway` nobody can reach an API, and a file that declares neither a gateway nor an `authz` serves nothing.",
  },
  SP3022: {
    severity: "warning",
    title: "Key that never counts",
    help: "Put `ip` last, or leave out what follows it.",
    why: "A limit counts by the first key the caller has. An address is always there, so nothing behind `ip` is ever looked at.",
  },
  SP3023: {
    severity: "warning",
    title: "Everybody is trusted",
    help: "Name the networks of the proxies in front.",
    why: "Whoever is trusted may say by X-Forwarded-For which address a request comes from: limits by address and logs are then what callers make of them.",
  },
})
