import type { CommandRow } from "./command.ts"

/** All commands, in the order of the help. `commands/NAME.ts` has the rest: options, work and view. */
export const commands: readonly CommandRow[] = [
  {
    name: "init",
    summary: "write a small project to start from: gateway.conf, models, tests and a README",
    load: async () => (await import("./commands/init.ts")).init,
  },
  {
    name: "dev",
    summary: "run everything here, with a database, an identity provider and backends to try; apply on save",
    load: async () => (await import("./commands/dev.ts")).dev,
  },
  {
    name: "validate",
    summary: "check gateway.conf and the models, together",
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
    summary: "what a relation depends on, what depends on it, and who could ever have it",
    load: async () => (await import("./commands/model-explain.ts")).modelExplain,
  },
  {
    name: "model print",
    summary: "print a model as one text, or as OpenFGA's JSON",
    load: async () => (await import("./commands/model-print.ts")).modelPrint,
  },
  {
    name: "import openapi",
    summary: "print an OpenAPI document as text of gateway.conf",
    load: async () => (await import("./commands/import-openapi.ts")).importOpenapi,
  },
  {
    name: "export openapi",
    summary: "print the OpenAPI 3.1 document of an API",
    load: async () => (await import("./commands/export-openapi.ts")).exportOpenapi,
  },
  {
    name: "policy convert",
    summary: "print an XML policy document as text of gateway.conf",
    load: async () => (await import("./commands/policy-convert.ts")).policyConvert,
  },
  {
    name: "plan",
    summary: "show what applying the text would change; exit 2 when there are changes",
    load: async () => (await import("./commands/plan.ts")).plan,
  },
  {
    name: "apply",
    summary: "make the text, or a plan that was reviewed, the running configuration",
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
    summary: "make an earlier plan the running one again",
    load: async () => (await import("./commands/rollback.ts")).rollback,
  },
  {
    name: "status",
    summary: "show every process, the plan it serves and its last error",
    load: async () => (await import("./commands/status.ts")).status,
  },
  {
    name: "subscription create",
    summary: "issue a subscription; its two keys are shown this once",
    load: async () => (await import("./commands/subscription.ts")).subscriptionCreate,
  },
  {
    name: "subscription list",
    summary: "list subscriptions by name, issued ones and those of gateway.conf",
    load: async () => (await import("./commands/subscription.ts")).subscriptionList,
  },
  {
    name: "subscription show",
    summary: "show one subscription: state, scope, keys by their beginning, when they were last used",
    load: async () => (await import("./commands/subscription.ts")).subscriptionShow,
  },
  {
    name: "subscription approve",
    summary: "let in what waits for an approval",
    load: async () => (await import("./commands/subscription.ts")).subscriptionApprove,
  },
  {
    name: "subscription reject",
    summary: "refuse what waits for an approval, for ever",
    load: async () => (await import("./commands/subscription.ts")).subscriptionReject,
  },
  {
    name: "subscription suspend",
    summary: "refuse its keys until it is activated again",
    load: async () => (await import("./commands/subscription.ts")).subscriptionSuspend,
  },
  {
    name: "subscription activate",
    summary: "let in again what was suspended or has expired",
    load: async () => (await import("./commands/subscription.ts")).subscriptionActivate,
  },
  {
    name: "subscription cancel",
    summary: "end it for ever",
    load: async () => (await import("./commands/subscription.ts")).subscriptionCancel,
  },
  {
    name: "subscription rotate",
    summary: "make a new key in place of one; it is shown this once, the old one is refused from now on",
    load: async () => (await import("./commands/subscription.ts")).subscriptionRotate,
  },
  {
    name: "subscription delete",
    summary: "remove a subscription; what it used stays in `usage`",
    load: async () => (await import("./commands/subscription.ts")).subscriptionDelete,
  },
  {
    name: "usage",
    summary: "show who called what: calls, bytes, times, and what it costs where products have a price",
    load: async () => (await import("./commands/usage.ts")).usage,
  },
  {
    name: "migrate",
    summary: "bring the database's schema to this version; run it once before `serve`",
    load: async () => (await import("./commands/migrate.ts")).migrate,
  },
  {
    name: "serve",
    summary:
      "run gateway, engine and control listener, with the plan that was applied last or one that is named",
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
    summary: "ask the engine, line by line: check, explain, list, read, write, changes",
    load: async () => (await import("./commands/shell.ts")).shell,
  },
  {
    name: "tuple write",
    summary: "write one tuple: give a user a relation on an object",
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
    name: "hash-password",
    summary: "make the hash of a password for `users`, so that the password itself is kept nowhere",
    load: async () => (await import("./commands/hash-password.ts")).hashPassword,
  },
  {
    name: "token",
    summary: "print a token as the development identity provider signs it",
    load: async () => (await import("./commands/token.ts")).token,
  },
  {
    name: "explain",
    summary: "say more about the code of a finding, or what becomes of a request and why",
    load: async () => (await import("./commands/explain.ts")).explain,
  },
  {
    name: "docs",
    summary: "read the manual: a page by its name, or what the words are about",
    load: async () => (await import("./commands/docs.ts")).docs,
  },
  {
    name: "schema",
    summary: "print the JSON Schema of plans, or of the engine's explanations",
    load: async () => (await import("./commands/schema.ts")).schema,
  },
]
