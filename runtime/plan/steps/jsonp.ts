import { defineStep } from "../define-step.ts"
import { bodyRead, bodyWritten, headerOf } from "../places.ts"
import { text } from "../text.ts"

/** Wraps a JSON answer to GET into a call of the function that the query parameter `callback` names; without the parameter the answer stays JSON. */
export const jsonp = defineStep("jsonp", { role: "change", rehearsed: "run" }, { callback: text }, () => ({
  reads: [...bodyRead("response"), "response.status"],
  writes: [...bodyWritten("response", true), headerOf("response", "x-content-type-options")],
  ends: ["fail"],
}))
