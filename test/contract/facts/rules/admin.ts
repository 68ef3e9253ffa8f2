import type { Rules } from '../facts.ts'
import { serverOnly } from './operator-side.ts'

const source = 'api-decisions.md § Admin surface of the emulator'

/** Rules for the emulator's own surface, whatever its addresses look like. */
export const adminRules = {
  'admin.own-token': {
    statement: 'the admin surface takes its own token and no API key, and the API takes no admin token',
    source,
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
  'admin.absent': {
    statement: 'an emulator started without the admin surface answers 404 under /_emulator/',
    source,
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
  'admin.journal-without-secrets': {
    statement: 'the journal holds each request with its status, and no secret that a body or header carried',
    source,
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
  'admin.token-hashed': {
    statement: 'a snapshot of everything stored holds no API key token',
    source: 'api-decisions.md § Requests',
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
  'admin.snapshot-restored': {
    statement: 'restoring a snapshot brings back the objects, the keys and the clock of its time',
    source,
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
} satisfies Rules
