import type { Authentication } from "../../../runtime/plan/step-values.ts"
import type { Step } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import type { ChildRow } from "../shape.ts"
import type { Used } from "../site.ts"
import type { Use } from "../use.ts"
import { constantOf, textOf } from "../values.ts"
import { isAddress } from "./address.ts"
import { bodyChild, bodyOf } from "./body.ts"
import { headerChild, headerLines, headerName, methodChild, methodOf } from "./message.ts"
import {
  complete,
  dynamic,
  type ElementTable,
  everywhere,
  flags,
  given,
  optional,
  required,
  requiredDynamic,
  secondsFromOne,
} from "./row.ts"

const basic: ChildRow = { attributes: { username: requiredDynamic, password: requiredDynamic } }
const certificate: ChildRow = {
  attributes: { "certificate-id": dynamic, thumbprint: dynamic, body: dynamic, password: dynamic },
}
const identity: ChildRow = {
  attributes: {
    resource: requiredDynamic,
    "client-id": dynamic,
    "output-token-variable-name": optional,
    "ignore-error": flags.off,
  },
}

/** The password may be a named value; the plan then has the reference. */
function basicOf(use: Use): Authentication | undefined {
  const parts = { user: use.text("username"), password: use.text("password") }
  return complete(parts) ? { scheme: "basic", ...parts } : undefined
}

/** A client certificate, declared in gateway.conf: the document cannot compute one. */
function certificateOf(use: Use): Authentication | undefined {
  const attribute = ["certificate-id", "thumbprint"].find((name) => use.has(name))
  if (attribute === undefined || use.has("body")) {
    const help =
      'Declare it in gateway.conf: `certificate NAME { cert file("…"); key file("…") }`, and write `certificate-id="NAME"`.'
    return use.report(
      "SP7011",
      use.has("body") ? use.spanOf("body") : use.at,
      "a certificate that the document computes is not supported",
      help,
    )
  }
  const id = use.constant(attribute)
  return id === undefined ? undefined : use.context.host.clientCertificate(id, use.spanOf(attribute))
}

/** A managed identity. A resource that is computed per request is null. */
function identityOf(use: Use): Authentication | undefined {
  const value = use.value("resource")
  const resource = value === undefined ? undefined : (constantOf(value) ?? null)
  // A resource that cannot be read is an error even though only its presence counts here.
  if (value !== undefined && resource === null && textOf(value, use.context.host) === undefined)
    return undefined
  // Selects an identity of the cloud. Here, the token client declared in gateway.conf determines the identity.
  if (use.has("client-id") && use.text("client-id") === undefined) return undefined
  // `ignore-error` has no effect here: without a token the backend refuses the request anyway.
  if (use.flag("ignore-error") === undefined || resource === undefined) return undefined
  return use.context.host.identity(resource, use.spanOf("resource"))
}

const ways: Readonly<Record<string, (use: Use) => Authentication | undefined>> = {
  "authentication-basic": basicOf,
  "authentication-certificate": certificateOf,
  "authentication-managed-identity": identityOf,
}

const requestChildren: Readonly<Record<string, ChildRow>> = {
  "set-url": { text: "value" },
  "set-method": methodChild,
  "set-header": headerChild,
  "set-body": bodyChild,
  "authentication-basic": basic,
  "authentication-certificate": certificate,
  "authentication-managed-identity": identity,
  proxy: { attributes: { url: dynamic, username: dynamic, password: dynamic } },
}

type Request = Omit<Extract<Step, { kind: "send-request" }>, "kind" | "wait" | "variable" | "ignoreError">

/** Reads a child as a part of the step. `value` is undefined when the child is absent. Returns undefined when it is wrong (reported). */
function partOf<Value>(
  use: Use | undefined,
  read: (use: Use) => Value | undefined,
): { value: Value | undefined } | undefined {
  if (use === undefined) return { value: undefined }
  const value = read(use)
  return value === undefined ? undefined : { value }
}

/** The request of `send-request` and `send-one-way-request`. */
function requestOf(use: Use): Request | undefined {
  // The request would leave the machine by another way than the document says.
  const proxy = use.child("proxy")
  if (proxy !== undefined)
    return use.report(
      "SP7011",
      proxy.at,
      "`proxy` is not supported: requests use the network of the machine",
      "Remove it, or use the URL of a server that forwards the request.",
    )
  // APIM sends one `Authorization`, and its schema allows one of these children.
  const authenticationUse = Object.keys(ways).flatMap((name) => use.children(name))[0]
  const parts = {
    mode: use.choice("mode", ["new", "copy"]),
    url: partOf(use.child("set-url"), (each) => urlOf(each)),
    method: partOf(use.child("set-method"), methodOf),
    headers: headerLines(use),
    body: partOf(use.child("set-body"), bodyOf),
    authentication: partOf(authenticationUse, (each) => ways[each.element.name]?.(each)),
    // APIM's default of 60 seconds.
    timeoutSeconds: use.has("timeout") ? use.count("timeout") : 60,
  }
  if (!complete(parts)) return undefined
  // A damaged document may have lost the child.
  if (parts.mode === "new" && use.child("set-url") === undefined && !use.context.document.damaged)
    return use.report(
      "SP7008",
      use.at,
      `\`${use.element.name}\` has no \`<set-url>\``,
      'Add `<set-url>…</set-url>`, or write `mode="copy"`.',
    )
  return {
    mode: parts.mode,
    headers: parts.headers,
    // The Content-Type is one of the headers, or none.
    media: null,
    timeoutSeconds: parts.timeoutSeconds,
    ...given("url", parts.url.value),
    ...given("method", parts.method.value),
    ...given("body", parts.body.value),
    ...given("authentication", parts.authentication.value),
  }
}

/** The address of a constant is checked here; one that is computed, when the request runs. */
function urlOf(use: Use): Text | undefined {
  const text = use.ownText()
  return typeof text !== "string" || isAddress(text, use, use.at) ? text : undefined
}

/** `send-request`: waits for the response and stores it. */
function sendRequest(use: Use): Used[] | undefined {
  const parts = {
    request: requestOf(use),
    variable: use.constant("response-variable-name"),
    ignoreError: use.flag("ignore-error"),
  }
  if (!complete(parts)) return undefined
  const { request, ...rest } = parts
  return use.step({ kind: "send-request", ...request, ...rest, wait: true })
}

function sendOneWay(use: Use): Used[] | undefined {
  const request = requestOf(use)
  // Nobody waits, so there is no caller to report a failure to.
  return request === undefined
    ? undefined
    : use.step({ kind: "send-request", ...request, ignoreError: true, wait: false })
}

function authenticate(use: Use): Used[] | undefined {
  const authentication = ways[use.element.name]?.(use)
  const output = use.has("output-token-variable-name")
    ? { output: use.constant("output-token-variable-name") }
    : {}
  if (authentication === undefined || !complete(output)) return undefined
  return use.step({ kind: "authenticate", authentication, ...output })
}

/** The credential of a provider that the document names, shared by the whole gateway. */
function authorizationContext(use: Use): Used[] | undefined {
  // Credentials of users are made in Azure's portal by each of them, which has no counterpart here.
  if (use.choice("identity-type", ["managed", "jwt"]) === "jwt")
    return use.report(
      "SP7011",
      use.spanOf("identity-type"),
      '`identity-type="jwt"` is not supported: Sallyport does not store credentials of users',
      'Write `identity-type="managed"`, or get the token with `send-request`.',
    )
  const provider = use.text("provider-id")
  const id = use.text("authorization-id")
  const output = use.constant("context-variable-name")
  if (use.flag("ignore-error") === undefined) return undefined
  if (provider === undefined || id === undefined || output === undefined) return undefined
  const { host } = use.context
  const authentication = host.authorization(
    // Computed names cannot be looked up in gateway.conf; they use the client for all.
    typeof provider === "string" && typeof id === "string" ? { provider, id } : undefined,
    use.spanOf("provider-id"),
  )
  return authentication === undefined
    ? undefined
    : use.step({ kind: "authenticate", authentication, output, outputAs: "object" })
}

/** Sends through the HTTP API of the service, with a token of the declared identity. Message properties become header fields. */
function sendMessage(use: Use): Used[] | undefined {
  const destination = ["queue-name", "topic-name"].filter((name) => use.has(name))
  const [name] = destination
  if (name === undefined || destination.length > 1)
    return use.report(
      "SP7008",
      use.at,
      `\`${use.element.name}\` needs either \`queue-name\` or \`topic-name\`, and has ${name === undefined ? "neither" : "both"}`,
      "Write one of the two.",
    )
  const namespace = use.text("namespace")
  const path = use.text(name)
  const payload = use.child("payload")
  const body = payload === undefined ? undefined : bodyOf(payload)
  const properties = (use.child("message-properties")?.children("message-property") ?? []).map((each) => {
    const parts = { name: headerName(each, "name"), value: each.ownText() }
    return complete(parts)
      ? { name: parts.name, action: "set" as const, values: [quoted(parts.value)] }
      : undefined
  })
  if (use.has("client-id") && use.text("client-id") === undefined) return undefined
  // The resource of Service Bus in Microsoft Entra ID.
  const authentication = use.context.host.identity("https://servicebus.azure.net", use.at)
  if (namespace === undefined || path === undefined || body === undefined || authentication === undefined)
    return undefined
  if (properties.includes(undefined)) return undefined
  return use.step({
    kind: "send-request",
    mode: "new",
    // `POST /QUEUE/messages`: "Send Message" of the service's REST API.
    url: joined("https://", namespace, "/", path, "/messages"),
    method: "POST",
    headers: properties as Request["headers"],
    media: null,
    body,
    authentication,
    timeoutSeconds: 60,
    ignoreError: false,
    wait: true,
  })
}

/** Concatenates texts. */
function joined(...texts: readonly Text[]): Text {
  const parts = texts.flatMap((text) => (typeof text === "string" ? [text] : text.text))
  return parts.every((part) => typeof part === "string") ? parts.join("") : { text: parts }
}

/** The service expects property values as JSON. */
function quoted(value: Text): Text {
  return typeof value === "string" ? JSON.stringify(value) : joined('"', value, '"')
}

export const requests: ElementTable = {
  "send-request": {
    about: "Sends a request of its own and stores the response in a variable.",
    sections: everywhere,
    attributes: {
      mode: { values: ["new", "copy"], byDefault: "new" },
      "response-variable-name": required,
      timeout: { ...dynamic, whole: secondsFromOne },
      "ignore-error": flags.off,
    },
    children: requestChildren,
    lower: sendRequest,
  },
  "send-one-way-request": {
    about: "Sends a request of its own and does not wait for the response.",
    sections: everywhere,
    attributes: {
      mode: { values: ["new", "copy"], byDefault: "new" },
      timeout: { ...dynamic, whole: secondsFromOne },
    },
    children: requestChildren,
    lower: sendOneWay,
  },
  "authentication-basic": {
    ...basic,
    about: "Sends a user name and a password to the backend.",
    sections: ["inbound", "backend"],
    lower: authenticate,
  },
  "authentication-certificate": {
    ...certificate,
    about: "Presents a client certificate to the backend.",
    sections: ["inbound", "backend"],
    lower: authenticate,
  },
  "authentication-managed-identity": {
    ...identity,
    about: "Sends a token of the declared identity to the backend.",
    sections: everywhere,
    lower: authenticate,
  },
  "get-authorization-context": {
    about: "Gets the token of a declared client and stores it in a variable.",
    sections: ["inbound"],
    attributes: {
      "provider-id": requiredDynamic,
      "authorization-id": requiredDynamic,
      "context-variable-name": required,
      "identity-type": { values: ["managed", "jwt"], byDefault: "managed" },
      identity: dynamic,
      "ignore-error": flags.off,
    },
    lower: authorizationContext,
  },
  "send-service-bus-message": {
    about: "Sends a message to a queue or a topic of Service Bus.",
    sections: everywhere,
    attributes: {
      "queue-name": dynamic,
      "topic-name": dynamic,
      namespace: requiredDynamic,
      "client-id": dynamic,
    },
    children: {
      "message-properties": {
        children: { "message-property": { many: true, text: "value", attributes: { name: required } } },
      },
      payload: { required: true, text: "body" },
    },
    lower: sendMessage,
  },
}
