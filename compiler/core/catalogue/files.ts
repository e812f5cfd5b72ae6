import { area } from "./entry.ts"

/** SP0xxx: files and their encoding. */
export const files = area({
  SP0001: {
    severity: "error",
    title: "File not found",
    help: "Check the path: it is relative to the file that contains it.",
    why: "Paths start from the folder of the file that contains them and use `/` on every system. Upper and lower case differ, even on disks that ignore case, so that a project compiles the same everywhere.",
  },
  SP0002: {
    severity: "error",
    title: "File outside the project",
    help: "Move the file into the project folder and use a relative path.",
    why: "A plan must be the same for everyone who has the folder. Absolute paths, paths with `..` and symbolic links that leave the folder would depend on the machine, and a shared file could include private ones.",
  },
  SP0003: {
    severity: "error",
    title: "Not a regular file",
    help: "Use the path of a text file.",
    why: "Folders, devices, sockets and pipes are never read: a pipe can block for ever, a device may never end.",
  },
  SP0004: {
    severity: "error",
    title: "File cannot be read",
    help: "Check the permissions of the file and of the folders above it.",
    why: "The operating system refused to open or read the file. The compiler makes no plan from a project that it could read only in part.",
  },
  SP0005: {
    severity: "error",
    title: "File too large",
    help: "Split the file into several ones.",
    why: "A file may have at most 4 MiB, an OpenAPI document 32 MiB unless `size` after `openapi` changes it. The limit protects the memory of the compiler from a wrong path or a generated file.",
  },
  SP0006: {
    severity: "error",
    title: "Project too large",
    help: "Split the project, or include fewer files.",
    why: "All files of a project together may have at most 128 MiB, and there may be at most 2,000 of them.",
  },
  SP0007: {
    severity: "error",
    title: "File is not valid UTF-8",
    help: "Save the file as UTF-8.",
    why: "Invalid bytes are not replaced: a name or the variable of a secret could become a different one. A byte order mark at the start of a UTF-8 file is skipped.",
  },
  SP0008: {
    severity: "error",
    title: "File is UTF-16 or UTF-32",
    help: "Save the file as UTF-8.",
    why: "Some editors and shells write UTF-16 by default (PowerShell 5 does with `>`). Every file here is UTF-8.",
  },
  SP0009: {
    severity: "error",
    title: "File is binary",
    help: "Check the path: a text file is expected here.",
    why: "The file contains NUL bytes, so it is not text. It is probably an archive, an image or a program.",
  },
  SP0010: {
    severity: "error",
    title: "Include cycle",
    help: "Remove one of the `include` statements.",
    why: "A file includes itself, directly or through other files.",
  },
  SP0011: {
    severity: "error",
    title: "File included twice",
    help: "Keep one of the `include` statements.",
    why: "A second inclusion would declare everything in the file again. The file is read once, at its first `include`.",
  },
  SP0012: {
    severity: "warning",
    title: "Pattern matches no file",
    help: "Check the pattern, or remove the statement.",
    why: "`*` matches any characters except `/`, `?` one character, `**` any folders. Files and folders with a name that starts with a dot do not match. An empty folder may be intended, so a plan is still made.",
  },
  SP0013: {
    severity: "error",
    title: "Include without a path",
    help: 'Write `include "models/teams/orders.conf"`.',
    why: "`include` takes one string: a path or a pattern, relative to its file. It cannot contain `${…}`, because the files of a project must not depend on values.",
  },
  SP0014: {
    severity: "error",
    title: "Unresolved merge conflict",
    help: "Keep one side or combine the two, and remove the lines that start with `<<<<<<<`, `=======` and `>>>>>>>`.",
    why: "Git writes these lines around two versions that it could not merge. The compiler does not read the rest of the file, to avoid findings caused by the conflict.",
  },
})
