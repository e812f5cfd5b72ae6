import type { CommandRow } from "./command.ts"

/** All commands, in the order of the help. `commands/NAME.ts` has the options, implementation and view. */
export const commands: readonly CommandRow[] = [
  {
    name: "init",
    summary: "write a small project to start from: gateway.conf, models, tests and a README",
    load: async () => (await import("./commands/init.ts")).init,
  },
  {
    name: "dev",
    summary: "run Sallyport here with a database, an identity provider and sample backends; apply on save",
    load: async () => (await import("./commands/dev.ts")).dev,
  },
  {
    name: "validate",
    summary: "check gateway.conf and the models; exit 1 when there are errors",
    load: async () => (await import("./commands/validate.ts")).validate,
  },
  {
    name: "fmt",
    summary: "format gateway.conf, the files it includes, and the models",
    load: async () => (await import("./commands/fmt.ts")).fmt,
  },
  {
    name: "test",
    summary: "run tests of models (*.fga.yaml); exit 1 when one fails",
    load: async () => (await import("./commands/test.ts")).test,
  },
  {
    name: "model explain",
    summary: "show what a relation depends on, what depends on it, and which users can have it",
    load: async () => (await import("./commands/model-explain.ts")).modelExplain,
  },
  {
    name: "model print",
    summary: "print a model as one text or as OpenFGA's JSON",
    load: async () => (await import("./commands/model-print.ts")).modelPrint,
  },
  {
    name: "import openapi",
    summary: "print an OpenAPI document as text for gateway.conf",
    load: async () => (await import("./commands/import-openapi.ts")).importOpenapi,
  },
  {
    name: "export openapi",
    summary: "print the OpenAPI 3.1 document of an API",
    load: async () => (await import("./commands/export-openapi.ts")).exportOpenapi,
  },
  {
    name: "policy convert",
    summary: "print an XML policy document as text for gateway.conf",
    load: async () => (await import("./commands/policy-convert.ts")).policyConvert,
  },
  {
    name: "plan",
    summary: "show what `apply` would change; exit 2 when there are changes",
    load: async () => (await import("./commands/plan.ts")).plan,
  },
  {
    name: "apply",
    summary: "make gateway.conf, or a reviewed plan file, the running configuration",
    load: async () => (await import("./commands/apply.ts")).apply,
  },
  {
    name: "diff",
    summary: "compare two folders or plan files; exit 2 when they differ",
    load: async () => (await import("./commands/diff.ts")).diff,
  },
  {
    name: "history",
    summary: "list the plans that were applied, newest first",
    load: async () => (await import("./commands/history.ts")).history,
  },
  {
    name: "rollback",
    summary: "apply an earlier plan again",
    load: async () => (await import("./commands/rollback.ts")).rollback,
  },
  {
    name: "status",
    summary: "show each running process, its plan and its last error",
    load: async () => (await import("./commands/status.ts")).status,
  },
  {
    name: "subscription create",
    summary: "create a subscription and print its two keys, once",
    load: async () => (await import("./commands/subscription.ts")).subscriptionCreate,
  },
  {
    name: "subscription list",
    summary: "list subscriptions: created ones and those of gateway.conf",
    load: async () => (await import("./commands/subscription.ts")).subscriptionList,
  },
  {
    name: "subscription show",
    summary: "show one subscription: state, scope, prefix and last use of its keys",
    load: async () => (await import("./commands/subscription.ts")).subscriptionShow,
  },
  {
    name: "subscription approve",
    summary: "approve a subscription that waits for approval",
    load: async () => (await import("./commands/subscription.ts")).subscriptionApprove,
  },
  {
    name: "subscription reject",
    summary: "reject a subscription that waits for approval; this is final",
    load: async () => (await import("./commands/subscription.ts")).subscriptionReject,
  },
  {
    name: "subscription suspend",
    summary: "refuse the keys of a subscription until it is activated again",
    load: async () => (await import("./commands/subscription.ts")).subscriptionSuspend,
  },
  {
    name: "subscription activate",
    summary: "accept the keys of a suspended or expired subscription again",
    load: async () => (await import("./commands/subscription.ts")).subscriptionActivate,
  },
  {
    name: "subscription cancel",
    summary: "end a subscription; this is final",
    load: async () => (await import("./commands/subscription.ts")).subscriptionCancel,
  },
  {
    name: "subscription rotate",
    summary: "replace one key and print the new one, once; the old key stops working",
    load: async () => (await import("./commands/subscription.ts")).subscriptionRotate,
  },
  {
    name: "subscription delete",
    summary: "delete a subscription; its past calls stay in `usage`",
    load: async () => (await import("./commands/subscription.ts")).subscriptionDelete,
  },
  {
    name: "usage",
    summary: "show calls, bytes, durations and prices by subscription, user, product or API",
    load: async () => (await import("./commands/usage.ts")).usage,
  },
  {
    name: "migrate",
    summary: "update the database schema to this version; run it once before `serve`",
    load: async () => (await import("./commands/migrate.ts")).migrate,
  },
  {
    name: "serve",
    summary: "run gateway, engine and control listener with the plan applied last, or with another one",
    load: async () => (await import("./commands/serve.ts")).serve,
  },
  {
    name: "check",
    summary: "ask the engine whether a user has a relation on an object",
    load: async () => (await import("./commands/check.ts")).check,
  },
  {
    name: "list-objects",
    summary: "list the objects of a type on which a user has a relation",
    load: async () => (await import("./commands/list.ts")).listObjects,
  },
  {
    name: "list-users",
    summary: "list the users that have a relation on an object",
    load: async () => (await import("./commands/list.ts")).listUsers,
  },
  {
    name: "shell",
    summary: "query the engine interactively or from a script: check, explain, list, read, write",
    load: async () => (await import("./commands/shell.ts")).shell,
  },
  {
    name: "tuple write",
    summary: "write one tuple: it gives a user a relation on an object",
    load: async () => (await import("./commands/tuple.ts")).tupleWrite,
  },
  {
    name: "tuple delete",
    summary: "delete one tuple",
    load: async () => (await import("./commands/tuple.ts")).tupleDelete,
  },
  {
    name: "tuple read",
    summary: "list tuples",
    load: async () => (await import("./commands/tuple.ts")).tupleRead,
  },
  {
    name: "tuple import",
    summary: "write the tuples of a file: JSON lines, CSV or YAML",
    load: async () => (await import("./commands/tuple-import.ts")).tupleImport,
  },
  {
    name: "tuple export",
    summary: "write all tuples to a file: JSON lines or CSV",
    load: async () => (await import("./commands/tuple-export.ts")).tupleExport,
  },
  {
    name: "watch",
    summary: "print each tuple that is written or deleted",
    load: async () => (await import("./commands/watch.ts")).watch,
  },
  {
    name: "prune",
    summary: "delete old changes, plans and deleted stores from the database",
    load: async () => (await import("./commands/prune.ts")).prune,
  },
  {
    name: "hash-password",
    summary: "print the hash of a password, for a `users` block",
    load: async () => (await import("./commands/hash-password.ts")).hashPassword,
  },
  {
    name: "token",
    summary: "print a token signed by the development identity provider",
    load: async () => (await import("./commands/token.ts")).token,
  },
  {
    name: "explain",
    summary: "explain the code of a finding, or what happens to a request and why",
    load: async () => (await import("./commands/explain.ts")).explain,
  },
  {
    name: "docs",
    summary: "read the manual: a page by its name, or what the words are about",
    load: async () => (await import("./commands/docs.ts")).docs,
  },
  {
    name: "schema",
    summary: "print the JSON Schema of plans or of the engine's explanations",
    load: async () => (await import("./commands/schema.ts")).schema,
  },
]
