import type { Authentication } from "../../runtime/plan/step-values.ts"
import type { StepOf } from "../../runtime/plan/steps.ts"
import { textWords } from "../analysis/words.ts"
import { blockWords } from "./access-words.ts"
import { bodyWords, headerLineWords, secondsWords } from "./content-words.ts"
import type { WordsOf } from "./words-of.ts"

/** Kinds of steps that say where requests go and how often. */
export type FlowKind = "send-request" | "set-backend" | "authenticate"

/** Such steps in words of gateway.conf. */
export const flowWords: WordsOf<FlowKind> = {
  "send-request": (step) =>
    `send${step.wait ? "" : " and forget"}${step.variable === undefined ? "" : ` ${step.variable}`}${blockWords(sendStatements(step))}`,
  "set-backend": ({ target }) => targetWords(target),
  authenticate: ({ authentication, output }) =>
    `${authenticationWords(authentication)}${output === undefined ? "" : ` as ${output}`}`,
}

function sendStatements(step: StepOf<"send-request">): string[] {
  const { mode, url, method, headers, media, body, authentication, timeoutSeconds, ignoreError } = step
  return [
    ...(mode === "copy" ? ["copy"] : []),
    ...(url === undefined ? [] : [`url ${textWords(url)}`]),
    ...(method === undefined ? [] : [`method ${textWords(method)}`]),
    ...headerLineWords(headers),
    ...(body === undefined ? [] : [`body ${bodyWords(media, body)}`]),
    ...(authentication === undefined ? [] : [authenticationWords(authentication)]),
    ...(timeoutSeconds === 60 ? [] : [`timeout ${secondsWords(timeoutSeconds)}`]),
    ...(ignoreError === false ? [] : ["ignore-error"]),
  ]
}

function authenticationWords(authentication: Authentication): string {
  switch (authentication.scheme) {
    case "basic":
      return `authenticate basic ${textWords(authentication.user)} ${textWords(authentication.password)}`
    case "bearer":
      return `authenticate bearer ${textWords(authentication.token)}`
    case "token":
      return `authenticate token ${authentication.client}`
    case "certificate":
      return `authenticate certificate ${authentication.certificate}`
  }
}

function targetWords(target: StepOf<"set-backend">["target"]): string {
  if ("backend" in target) return `use backend ${target.backend}`
  if ("url" in target) return `use url ${textWords(target.url)}${target.raw ? " raw" : ""}`
  if ("weighted" in target)
    return `use weighted${target.key === undefined ? "" : ` by ${textWords(target.key)}`}${blockWords(
      target.weighted.map(({ backend, weight }) => `backend ${backend} weight ${weight}`),
    )}`
  return `use by ${textWords(target.by)}${blockWords([
    ...target.cases.map(({ value, backend }) => `case ${JSON.stringify(value)} ${backend}`),
    ...(target.otherwise === null ? [] : [`otherwise ${target.otherwise}`]),
    ...(target.strict === true ? ["refuse-others"] : []),
  ])}`
}
