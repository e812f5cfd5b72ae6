import { breaking, type Finding } from "../../analysis/finding.ts"
import { nowAboutMessage, otherBody, otherRequestBody, ownBody } from "../../analysis/message-rules.ts"
import { escapingLost, secretsIn } from "../../analysis/text-findings.ts"
import { headSpan } from "../bind/bound.ts"
import { lowerContent } from "../lower/content.ts"
import { messageAt } from "../lower/header.ts"
import { bodyStatement } from "../print-message.ts"
import { bodyContent } from "../schema/content.ts"
import { word } from "../schema/row.ts"
import {
  byFirstWord,
  type Fields,
  type StatementDefinition,
  type StatementForm,
  type StepText,
} from "../step-text.ts"
import { decompressForm } from "./decompress.ts"
import { replaceForm } from "./find-replace.ts"
import { jsonToXmlForm } from "./json-to-xml.ts"
import { jsonpForm } from "./jsonp.ts"
import { maskUrlsForm } from "./mask-urls.ts"
import { xmlToJsonForm } from "./xml-to-json.ts"

/** `body set …` */
const setForm: StatementForm = {
  form: { args: [word("set"), bodyContent] },
  lower: (bound, context) => {
    const content = lowerContent(bound, context)
    if (content === undefined) return undefined
    const message = messageAt(context.place)
    return context.steps.add({ kind: "set-body", message, ...content }, headSpan(bound.statement))
  },
}

/** The forms of `body`, by first word. */
const forms: Readonly<Record<string, StatementForm>> = {
  jsonp: jsonpForm,
  decompress: decompressForm,
  "mask-urls": maskUrlsForm,
  set: setForm,
  replace: replaceForm,
  "json-to-xml": jsonToXmlForm,
  "xml-to-json": xmlToJsonForm,
}

/** `jsonp` turns a response into a script. The gateway decodes responses by itself where a step reads them. */
const onlyIn: ReadonlyMap<StatementForm, string> = new Map([
  [jsonpForm, "outbound"],
  [decompressForm, "inbound"],
])

/** `body set|replace|json-to-xml|xml-to-json|mask-urls …`; `decompress` in `inbound`, `jsonp` in `outbound`. */
export const body = (block: "inbound" | "outbound" | "on-error"): StatementDefinition => ({
  row: {
    keyword: "body",
    several: true,
    forms: Object.values(forms)
      .filter((each) => (onlyIn.get(each) ?? block) === block)
      .map(({ form }) => form),
    docs: "Replaces the body, replaces every occurrence of a string in it, or converts it between JSON and XML. In JSON an expression inside quotes is escaped, elsewhere it is a JSON value; `xml` escapes it for the surrounding text or attribute. `text` escapes nothing. `mask-urls` makes absolute URLs of the backend in a text those of the gateway (in a request the other way round); the backend is then asked for whole answers, never for a part (`Range`); `jsonp` makes a script of a JSON answer to GET where the query parameter names a function. `decompress` sends the backend the body without its codings (gzip, deflate, br); one that becomes more than 100 times larger, or than `at-most` says, gets 413.",
    example: 'body set json ({"error": "no such order"})',
  },
  lower: byFirstWord(forms),
})

/** Printing and comparison of a step that replaces the body. */
export const setBody: StepText<"set-body"> = {
  print: ({ media, content }, printing) => bodyStatement("body set", media, content, printing),
  identities: ({ message }) => [`body ${message}`],
  added: ({ message, content }) => [
    message === "request"
      ? otherRequestBody("the backend gets this body instead of the caller's")
      : breaking("callers get this body instead of the backend's"),
    ...secretsIn(content),
  ],
  removed: ({ message }) => ownBody(message),
  changed: {
    message: nowAboutMessage,
    media: (_, after, items) =>
      bodyChange(items.after, after === null ? "another" : `as ${mediaShown(after)}`),
    content: (before, after, items) => [
      ...escapingLost(before, after),
      bodyChange(items.after, "another"),
      ...secretsIn(after, before),
    ],
  },
}

function mediaShown(media: string): string {
  if (media === "application/json") return "json"
  return media.startsWith("text/plain") ? "text" : media
}

function bodyChange({ message }: Fields<"set-body">, what: string): Finding {
  return otherBody(message, what === "another" ? "another body" : `the body ${what}`)
}
