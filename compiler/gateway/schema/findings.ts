import type { DiagnosticCode } from "../../core/catalogue.ts"
import type { SlotKind } from "./row.ts"

/** A code for statements of gateway.conf: names, routes and expressions. */
export type StatementCode = Extract<DiagnosticCode, `SP${2 | 3 | 5}${string}`>

/**
 * Where a finding of gateway.conf can be reported. `form`: at any statement, because of its form. `project`: at a statement, because of the
 * project as a whole. `expression`: at any expression. Otherwise by the kinds of arguments, and by keyword, optionally with its block
 * (`backend timeout`). `settings`: at arguments that the environment can set. `declares`: at statements that declare a name.
 */
export type ReportedAt =
  | "form"
  | "project"
  | "expression"
  | "declares"
  | { readonly slots?: readonly SlotKind[]; readonly keywords?: readonly string[]; readonly settings?: true }

/** The kinds of arguments that are or contain expressions. */
export const expressionSlots: readonly SlotKind[] = [
  ...(["text", "load-text", "condition", "expression", "limit-key", "claim"] as const),
]

/** The kinds of literals that a named value can have. */
export const literalSlots: readonly SlotKind[] = [
  ...(["duration", "duration-or-none", "size", "count", "decimal", "percentage", "date"] as const),
  ...(["network", "network-or-range", "status", "status-or-class"] as const),
]

const question: readonly SlotKind[] = ["relation"]
const bodies = ["body", "respond"]

/**
 * The source of the manual's lists of findings per statement. test/manual/findings.test.ts runs all cases and fails if a finding is
 * reported at a statement that is not listed here.
 */
export const reportedAt: { readonly [Each in StatementCode]: ReportedAt } = {
  SP2001: "form",
  SP2002: "form",
  SP2003: "form",
  SP2004: "form",
  SP2005: "form",
  SP2006: "form",
  SP2007: "form",
  SP2008: "form",
  SP2009: "form",
  SP2010: {
    slots: ["name", "value-name"],
    keywords: [
      ...["user", "realm", "authenticate", "subject", "auth certificate issuer", "thumbprint", "sticky"],
      "targets",
    ],
  },
  SP2011: "declares",
  SP2012: {
    slots: ["reference", "scope", "text", "load-text", "address"],
    keywords: ["successor", "opens", "closes", "breaking"],
  },
  SP2013: "declares",
  SP2014: "project",
  SP2015: { keywords: ["value", "use"] },
  SP2016: "form",
  SP2017: "form",
  SP2020: { slots: ["duration", "duration-or-none"] },
  SP2021: { slots: ["size"] },
  SP2022: { slots: ["count", "decimal", "percentage"] },
  SP2023: { slots: ["date"] },
  SP2024: { slots: ["address", "host"], keywords: ["forward-host"] },
  SP2025: { slots: ["network", "network-or-range"] },
  SP2026: { slots: ["url"], keywords: ["deprecated", "backend"] },
  SP2027: { slots: ["header-name"] },
  SP2028: { keywords: ["header"] },
  SP2029: { slots: ["status", "status-or-class"], keywords: ["body"] },
  SP2030: { slots: ["choice", "limit-key"], keywords: ["price", "signed"] },
  SP2031: {
    slots: ["load-text", "constant", "url", "path", "address", "header-name"],
    keywords: ["signed"],
  },
  SP2032: { slots: ["outside", "file", "address"], settings: true },
  SP2033: { keywords: ["secret"] },
  SP2034: { keywords: ["header", "signed"] },
  SP2035: { slots: ["query-name"] },
  SP2036: "form",
  SP2037: { slots: ["file", "outside"] },
  SP2038: { slots: ["text", "load-text", "data", "claim", "path"], keywords: ["caller"] },
  SP2039: { keywords: ["origins"] },
  SP2041: { slots: ["method"] },
  SP2042: { keywords: ["backend timeout"] },
  SP2043: "form",
  SP2040: { keywords: ["json", "xml", "soap", "map", "body", "mock", "types"] },
  SP3001: {
    slots: ["path"],
    keywords: ["rewrite", "login", "callback", "logout", "back-channel-logout", "after-logout"],
  },
  SP3002: { keywords: ["operation", "docs"] },
  SP3003: { keywords: ["operation"] },
  SP3004: { keywords: ["operation", "api"] },
  SP3005: { keywords: ["operation"] },
  SP3006: { keywords: ["api", "version"] },
  SP3007: { keywords: ["auth"] },
  SP3008: { keywords: ["limit", "quota"] },
  SP3009: { keywords: ["limit", "quota"] },
  SP3010: { keywords: ["limit", "quota"] },
  SP3011: "project",
  SP3012: { keywords: ["without"] },
  SP3013: "project",
  SP3044: { keywords: ["redirect"] },
  SP3060: { keywords: ["cross-site"] },
  SP3047: { keywords: ["auth"] },
  SP3050: { keywords: ["cert", "key"] },
  SP3052: { keywords: ["certificate"] },
  SP3053: { keywords: ["certificate"] },
  SP3051: { keywords: ["cert"] },
  SP3080: { keywords: ["mirror"] },
  SP3081: { keywords: ["backend"] },
  SP3090: { keywords: ["logo", "texts", "pages"] },
  SP3070: { keywords: ["timestamp", "replay-guard"] },
  SP3071: { keywords: ["signed", "auth"] },
  SP3072: { keywords: ["operation", "oidc", "login", "callback", "logout", "back-channel-logout", "auth"] },
  SP3073: { keywords: ["listen"] },
  SP3076: { keywords: ["signers"] },
  SP3074: { keywords: ["listen"] },
  SP3075: { keywords: ["login", "oidc", "token"] },
  SP3014: { keywords: ["listen"] },
  SP3015: { keywords: ["listen"] },
  SP3016: "project",
  SP3017: { keywords: ["key", "secondary", "auth"] },
  SP3018: { keywords: ["subscription"] },
  SP3019: { keywords: ["insecure"] },
  SP3020: { keywords: ["issuer"] },
  SP3021: { keywords: ["api"] },
  SP3022: { keywords: ["limit", "quota"] },
  SP3023: { keywords: ["trust"] },
  SP3024: { keywords: ["auth"] },
  SP3025: { keywords: ["auth", "subject"] },
  SP3026: { keywords: ["apis"] },
  SP3040: { keywords: ["credentials", "body", "operation"] },
  SP3041: { keywords: ["key", "algorithms"] },
  SP3042: { keywords: ["from", "header", "auth", "check", "timestamp", "signed"] },
  SP3043: { keywords: ["operation"] },
  SP5001: "expression",
  SP5002: "expression",
  SP5003: "expression",
  SP5004: "expression",
  SP5005: "expression",
  SP5006: "expression",
  SP5007: { keywords: bodies },
  SP5008: "expression",
  SP5010: { slots: question },
  SP5011: { slots: question, keywords: ["tuple", "move"] },
  SP5012: { slots: question, keywords: ["move"] },
  SP5013: { slots: question },
  SP5014: { slots: question },
  SP5015: { slots: question },
  SP5016: "expression",
  SP5017: { keywords: bodies },
  SP5018: "expression",
  SP5020: { keywords: bodies },
  SP5021: { keywords: bodies },
  SP5022: { keywords: bodies },
  SP5023: "expression",
}
