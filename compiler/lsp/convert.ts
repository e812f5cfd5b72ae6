import {
  type CompletionItem,
  CompletionItemKind,
  DiagnosticSeverity,
  DiagnosticTag,
  type DocumentSymbol,
  type Location,
  type CodeLens as LspCodeLens,
  type Diagnostic as LspDiagnostic,
  type InlayHint as LspInlayHint,
  type TextEdit as LspTextEdit,
  MarkupKind,
  type Position,
  type Range,
  type SemanticTokens,
  type SemanticTokensLegend,
  SymbolKind,
  type WorkspaceEdit,
} from "vscode-languageserver"
import type { Diagnostic, Severity, TextEdit } from "../core/diagnostic.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { Completion } from "../service/completion-item.ts"
import type { AskableQuestion } from "../service/engine-questions.ts"
import type { InlayHint } from "../service/inlay-hints.ts"
import type { CodeLens } from "../service/lenses.ts"
import type { OutlineItem } from "../service/outline.ts"
import { type SemanticToken, tokenKinds } from "../service/semantic-tokens.ts"

/** The address of a file of the project. */
export type UriOf = (path: string) => string

/** Lines and columns of the protocol start at 0; both count UTF-16 units. */
export function rangeOf({ file, start, end }: Span): Range {
  return { start: positionOf(file, start), end: positionOf(file, end) }
}

export function positionOf(file: SourceFile, offset: number): Position {
  const { line, column } = file.position(offset)
  return { line: line - 1, character: column - 1 }
}

export function offsetOf(file: SourceFile, { line, character }: Position): number {
  return file.offset({ line: line + 1, column: character + 1 })
}

const severities: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
}

export function diagnosticOf(finding: Diagnostic, uriOf: UriOf): LspDiagnostic {
  const { code, severity, title, detail, help, span, related } = finding
  const start = { line: 0, character: 0 }
  return {
    range: span === undefined ? { start, end: start } : rangeOf(span),
    severity: severities[severity],
    ...{ code, source: "sallyport" },
    message: [`${title}: ${detail}`, ...(help === undefined ? [] : [help])].join("\n"),
    ...(code === "SP2014" ? { tags: [DiagnosticTag.Unnecessary] } : {}),
    relatedInformation: related.map((each) => ({
      location: { uri: uriOf(each.span.file.path), range: rangeOf(each.span) },
      message: each.message,
    })),
  }
}

export function editsOf(edits: readonly TextEdit[]): LspTextEdit[] {
  return edits.map(({ span, text }) => ({ range: rangeOf(span), newText: text }))
}

export function locationsOf(spans: readonly Span[], uriOf: UriOf): Location[] {
  return spans.map((span) => ({ uri: uriOf(span.file.path), range: rangeOf(span) }))
}

/** Edits of several files. */
export function workspaceEditOf(edits: readonly TextEdit[], uriOf: UriOf): WorkspaceEdit {
  const paths = [...new Set(edits.map(({ span }) => span.file.path))]
  return {
    changes: Object.fromEntries(
      paths.map((path) => [uriOf(path), editsOf(edits.filter(({ span }) => span.file.path === path))]),
    ),
  }
}

const completionKinds: Readonly<Record<Completion["kind"], CompletionItemKind>> = {
  keyword: CompletionItemKind.Keyword,
  word: CompletionItemKind.EnumMember,
  name: CompletionItemKind.Reference,
  value: CompletionItemKind.Variable,
  type: CompletionItemKind.Class,
  relation: CompletionItemKind.Property,
  field: CompletionItemKind.Field,
  method: CompletionItemKind.Method,
  function: CompletionItemKind.Function,
  operation: CompletionItemKind.Snippet,
}

/** `index`: editors sort by label what they match equally well, and the service proposes the most fitting first. */
export function completionItemOf(
  { label, kind, detail, docs, insert, replaces }: Completion,
  index: number,
): CompletionItem {
  return {
    ...{ label, kind: completionKinds[kind], sortText: String(index).padStart(5, "0") },
    // Editors show it as it is, not as Markdown.
    ...(detail === undefined ? {} : { detail: detail.replaceAll("`", "") }),
    ...(docs === undefined ? {} : { documentation: { kind: MarkupKind.Markdown, value: docs } }),
    textEdit: { range: rangeOf(replaces), newText: insert ?? label },
  }
}

const symbolKinds: Readonly<Record<OutlineItem["kind"], SymbolKind>> = {
  declaration: SymbolKind.Module,
  route: SymbolKind.Function,
  block: SymbolKind.Namespace,
  type: SymbolKind.Class,
  relation: SymbolKind.Property,
  condition: SymbolKind.Boolean,
}

export function symbolOf({ name, detail, kind, span, nameSpan, children }: OutlineItem): DocumentSymbol {
  return {
    ...{ name: name === "" ? "(unnamed)" : name, detail, kind: symbolKinds[kind] },
    ...{ range: rangeOf(span), selectionRange: rangeOf(nameSpan), children: children.map(symbolOf) },
  }
}

export function inlayHintOf({ at, parts }: InlayHint, uriOf: UriOf): LspInlayHint {
  const label = parts.map(({ text, docs, span }, index) => ({
    value: index === 0 ? text : ` · ${text}`,
    tooltip: { kind: MarkupKind.Markdown, value: docs },
    location: { uri: uriOf(span.file.path), range: rangeOf(span) },
  }))
  return { position: positionOf(at.file, at.start), label, paddingLeft: true }
}

/** A lens that only says something has a command without a name: editors show its title. */
export function codeLensOf({ span, title }: CodeLens): LspCodeLens {
  return { range: rangeOf(span), command: { title, command: "" } }
}

/** A lens that asks a question when it is clicked. */
export function askingLensOf(
  { span, title }: CodeLens,
  command: string,
  question: AskableQuestion,
): LspCodeLens {
  return { range: rangeOf(span), command: { title, command, arguments: [question] } }
}

/** The names of the kinds and modifiers of tokens, which the numbers of `encodedTokens` mean. */
export const tokensLegend: SemanticTokensLegend = {
  tokenTypes: [...tokenKinds],
  tokenModifiers: ["declaration"],
}

/** Five numbers for each token: lines and columns since the one before, length, kind, modifiers (LSP 3.17, "Semantic Tokens"). */
export function encodedTokens(tokens: readonly SemanticToken[]): SemanticTokens {
  const data: number[] = []
  let last: Position = { line: 0, character: 0 }
  for (const { kind, declares, span } of tokens) {
    const start = positionOf(span.file, span.start)
    const sameLine = start.line === last.line
    data.push(start.line - last.line, sameLine ? start.character - last.character : start.character)
    data.push(span.end - span.start, tokenKinds.indexOf(kind), declares ? 1 : 0)
    last = start
  }
  return { data }
}
