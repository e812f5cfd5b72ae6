import { renderDiagnostics } from "../../../compiler/render/diagnostics.ts"
import { runCases } from "../../cases.ts"
import { compile } from "../../compile.ts"
import { outlineOfPlan } from "../../gateway-conf/outline.ts"

// Documents where gateway.conf names them: scopes, order, names, and the proof of `auth policy`.
runCases("policies", {
  diagnostics: (files) =>
    renderDiagnostics(compile(files, "gateway.conf").diagnostics, "text", { colour: false }),
  plan: (files) => outlineOfPlan(compile(files, "gateway.conf").plan),
})
