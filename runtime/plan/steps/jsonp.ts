import { defineStep } from "../define-step.ts"
import { bodyRead, bodyWritten, headerOf } from "../places.ts"
import { text } from "../text.ts"

/** Wraps a JSON response to GET in a call of the function named by the query parameter `callback`. Without the parameter, the response stays JSON. */
export const jsonp = defineStep("jsonp", { role: "change", rehearsed: "run" }, { callback: text }, () => ({
  reads: [...bodyRead("response"), "response.status"],
  writes: [...bodyWritten("response", true), headerOf("response", "x-content-type-options")],
  ends: ["fail"],
}))
