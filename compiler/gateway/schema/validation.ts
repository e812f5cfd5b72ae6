import { byFirstWord, type StatementDefinition } from "../step-text.ts"
import { contentForm } from "../steps/validate-content.ts"
import { graphqlForm } from "../steps/validate-graphql.ts"
import { headersForm } from "../steps/validate-headers.ts"
import { statusForm } from "../steps/validate-status.ts"

const contentDocs =
  "`content` checks the body at this point: its size, its media type, its schema. `prevent` (default) sends 400 for a request and 502 for a response, `detect` only logs it."

const answerForms = { status: statusForm, headers: headersForm, content: contentForm }
const requestForms = { content: contentForm, graphql: graphqlForm }
const lower = byFirstWord({ ...answerForms, ...requestForms })

/** Validates responses by the rules of the statement itself. In contrast, `validate response` uses the OpenAPI document. */
export const validateAnswer: StatementDefinition = {
  row: {
    keyword: "validate",
    several: true,
    forms: Object.values(answerForms).map(({ form }) => form),
    docs: `Checks the status or the headers of the response against the rules of its block, with or without an OpenAPI document: \`prevent\` (default) sends 502, \`detect\` only logs it. ${contentDocs}`,
    example: "validate status { allow 200 404 }",
  },
  lower,
}

/** Validates requests by the rules of the statement itself. In contrast, `validate request` uses the OpenAPI document. */
export const validateContentInOrder: StatementDefinition = {
  row: {
    keyword: "validate",
    several: true,
    forms: Object.values(requestForms).map(({ form }) => form),
    docs: `${contentDocs} \`graphql\` judges the size of GraphQL queries.`,
    example: 'validate content { json "application/json"; map missing to "application/json" }',
  },
  lower,
}
