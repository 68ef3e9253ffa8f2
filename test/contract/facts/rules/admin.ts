import type { RuleFact } from '../facts.ts'
import { serverOnly } from './operator-side.ts'

const source = 'api-decisions.md § Admin surface of the emulator'

/** Rules for the emulator's own surface, whatever its addresses look like. */
export const adminRules: readonly RuleFact[] = [
  {
    id: 'admin.own-token',
    statement: 'the admin surface takes its own token and no API key, and the API takes no admin token',
    source,
    due: 'now',
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
    refusal: { status: 401 },
  },
  {
    id: 'admin.absent',
    statement: 'an emulator started without the admin surface answers 404 under /_emulator/',
    source,
    due: 'now',
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
    refusal: { status: 404 },
  },
  {
    id: 'admin.journal-without-secrets',
    statement: 'the journal holds each request with its status, and no secret that a body or header carried',
    source,
    due: 'now',
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
  {
    id: 'admin.token-hashed',
    statement: 'a snapshot of everything stored holds no API key token',
    source: 'api-decisions.md § Requests',
    due: 'now',
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
  {
    id: 'admin.snapshot-restored',
    statement: 'restoring a snapshot brings back the objects, the keys and the clock of its time',
    source,
    due: 'now',
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
]
