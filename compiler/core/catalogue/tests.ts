import { area } from "./entry.ts"

/** SP6xxx: tests of models (`*.fga.yaml`, OpenFGA's store files), tests of gateways (`*.gw.yaml`), and the files they name. */
export const tests = area({
  SP6001: {
    severity: "error",
    title: "Invalid YAML",
    help: "Indent with spaces, close every bracket, and quote strings that contain `: ` or ` #`.",
    why: "The file is not valid YAML 1.2 from the marked place on. No test in it is run, because a part of the tests could look like all of them.",
  },
  SP6002: {
    severity: "error",
    title: "Wrong kind of value",
    help: "Write a value of the type that the finding names.",
    why: "A test file is a map. In a store file `tests`, `check`, `list_objects`, `list_users`, `tuples` and `user_filter` are lists, `assertions` and `context` are maps, and an asserted relation of `check` is `true` or `false`. In a gateway test `tests`, `steps` and `each` are lists, and `given`, `expect` and `headers` are maps.",
  },
  SP6003: {
    severity: "error",
    title: "Unknown key",
    help: "Correct the key, or remove it.",
    why: "An unknown key would be a test that does not run. OpenFGA's command line refuses unknown keys too.",
  },
  SP6004: {
    severity: "error",
    title: "Missing key",
    help: "Add the key that the finding names.",
    why: "A store file has `model` or `model_file`; a check has `user` or `users`, `object` or `objects`, and `assertions`; `list_objects` has `user`, `type` and `assertions`; `list_users` has `object`, `user_filter` and `assertions`; a tuple has `user`, `relation` and `object`. A gateway test has `request` or `steps`.",
  },
  SP6005: {
    severity: "error",
    title: "Conflicting keys",
    help: "Keep one of the two keys.",
    why: "A check has either `user` or `users`, and either `object` or `objects`. A gateway test has either `request` or `steps`, and a message either `body` or `json`.",
  },
  SP6006: {
    severity: "warning",
    title: "Model file is not used",
    help: "Remove `model_file`, or `model`.",
    why: "If a store file has both, `model` is used, as in OpenFGA's command line. The file in `model_file` is not tested.",
  },
  SP6007: {
    severity: "error",
    title: "Tuple not allowed by the model",
    help: "Correct the tuple, or allow it in the model.",
    why: "A server would refuse to write this tuple, so the test would show nothing. The rules are those of the `write` endpoint.",
  },
  SP6008: {
    severity: "error",
    title: "Tuple given twice",
    help: "Remove one of them.",
    why: "A store holds one tuple for a user, a relation and an object. Two with different conditions conflict. An exact repetition is allowed.",
  },
  SP6009: {
    severity: "error",
    title: "Question does not fit the model",
    help: "Correct the name, or add it to the model.",
    why: "The engine answers a question about an unknown type or relation, or about an invalid user or object, with an error.",
  },
  SP6010: {
    severity: "error",
    title: "Model test fails",
    help: "Correct the model or the test. `sallyport test FILE` explains the answer.",
    why: "Every compilation runs the `tests` of the stores in gateway.conf. It makes a plan only if all of them pass.",
  },
  SP6011: {
    severity: "error",
    title: "Invalid tuple file",
    help: "Write a list of tuples in YAML or JSON, one JSON object per line (.jsonl), or CSV with the columns user_type, user_id, user_relation, relation, object_type, object_id, condition_name and condition_context.",
    why: "The ending of the file name decides its format: .yaml, .yml, .json, .jsonl or .csv. A file without tuples is an error, as in OpenFGA's command line.",
  },
  SP6012: {
    severity: "warning",
    title: "Empty test",
    help: "Add a check, or remove the entry.",
    why: "A store without tests, a test without questions, a question without assertions and a gateway test without `expect` pass whatever the project says.",
  },
  SP6013: {
    severity: "error",
    title: "Test file too large",
    help: "Split the entry or the file, and remove repeated aliases (`*name`).",
    why: "Aliases may repeat 50,000 values in a file, and one entry may ask 100,000 questions. Without these limits a few lines could keep the compiler busy for hours.",
  },
  SP6014: {
    severity: "error",
    title: "Tests belong to another model",
    help: "Name the model of the store in `model_file`, or move the tests to the store with that model.",
    why: "Tests that pass with another model prove nothing about this store.",
  },
  SP6015: {
    severity: "error",
    title: "Unknown name in a gateway test",
    help: "Correct the name, or declare it in gateway.conf or in `given`.",
    why: "A test can name backends, stores, issuers, products, subscriptions and routes of its plan, callers of its `given`, and values of its rows. A name that none of them has would test nothing.",
  },
  SP6016: {
    severity: "error",
    title: "Invalid expression in a gateway test",
    help: "Use `response`, `sent`, `route`, `problem` and `reason`, for example `response.body.items.size() == 2`.",
    why: "`check` is an expression of CEL that must be true. `response` and each of `sent`, the requests that backends got, have `header(name)`, `body` (JSON) and `text`.",
  },
  SP6017: {
    severity: "error",
    title: "Project of a gateway test not found",
    help: "Name the main file of the project in `config`, relative to the file of the test.",
    why: "A gateway test runs on the plan of a project. Without `config` it is the nearest gateway.conf in the folder of the test or above.",
  },
  SP6018: {
    severity: "error",
    title: "Plan cannot be loaded in a gateway test",
    help: "Correct `env` in `given`, or add the missing file to the project.",
    why: "A gateway test loads the plan as a server does, except for listeners. `env()` reads only `env` of `given`, and a variable that is missing there gets a fixed value.",
  },
  SP6019: {
    severity: "warning",
    title: "Only some gateway tests run",
    help: "Remove `only: true` before you commit.",
    why: "While a test has `only: true`, the others of all files do not run.",
  },
})
