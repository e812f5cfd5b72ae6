import type { Exchange } from "./exchange.ts"
import { constantHeader, headerText } from "./grammars.ts"
import type { HeaderList } from "./header-list.ts"
import type { Policy } from "./policy.ts"
import { compileText } from "./text.ts"

/** Sets, adds, defaults or removes a header of the request to the backend or of the answer. */
export const setHeader: Policy<"set-header"> = (plan, provision) => {
  const { name, action } = plan
  const headersOf = plan.message === "request" ? requestHeaders : responseHeaders
  if (action === "remove") {
    return (exchange) => {
      headersOf(exchange).remove(name)
      return undefined
    }
  }
  if (plan.value === undefined) throw new Error(`header \`${name}\`: \`${action}\` needs a value`)
  const text = compileText(plan.value, provision, headerText)
  const constant = text.constant === undefined ? undefined : constantHeader(text.constant, name)
  const apply = actions[action]
  return (exchange) => {
    apply(headersOf(exchange), name, constant ?? text.of(exchange))
    return undefined
  }
}

const actions = {
  set: (headers: HeaderList, name: string, value: string) => headers.set(name, value),
  append: (headers: HeaderList, name: string, value: string) => headers.append(name, value),
  default: (headers: HeaderList, name: string, value: string) => {
    if (headers.get(name) === undefined) headers.append(name, value)
  },
}

function requestHeaders(exchange: Exchange): HeaderList {
  return exchange.headers
}

function responseHeaders(exchange: Exchange): HeaderList {
  if (exchange.response === undefined) throw new Error("a header of the answer is set before there is one")
  return exchange.response.headers
}
