import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { runCases } from "../cases.ts"
import { compile } from "../compile.ts"
import { trafficOf } from "./traffic.ts"

// From the text of a configuration to sockets on both sides: what a statement does is what is seen there.
runCases("traffic", {
  diagnostics: (files) =>
    renderDiagnostics(compile(files, "gateway.conf").diagnostics, "text", { colour: false }),
  traffic: trafficOf,
})
