import type { CommandLine } from "../command.ts"

export const migrateLine: CommandLine<Record<string, never>> = {
  name: "migrate",
  summary: "bring the database's schema to this version; run it once before `serve`",
  examples: [
    [
      "SALLYPORT_DATABASE_URL=postgres://sallyport@db/sallyport sallyport migrate",
      "a one-time job; safe to run twice or at once",
    ],
  ],
  parse: () => ({}),
}
