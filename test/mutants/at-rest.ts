import { readdirSync } from 'node:fs'
import type { Aim } from './seam.ts'

const MATRIX = new URL('../faults/matrix/', import.meta.url)
const SUITE = /^(.*)\.test\.ts$/

/** Suites of the matrix that bring no object of a spec to rest and judge it, and why. */
export const NOT_AT_REST: Readonly<Record<string, string>> = {
  judge: 'breaks objects by hand where no operator runs: it judges the oracle',
  planned: 'compares the requests of two runs, in steps without an edit: it judges how cases are planned',
  'seeds-replay': 'compares the requests of two runs, however they end',
  sessions: 'has no object of a spec: sessions are the service’s, and a command is sent once and not kept',
  visits: 'counts what the operator reads of its copies',
}

/** One field is edited in these steps of a life cycle, and the tools that plan cases from steps can single them out. */
const EDITS = '^(Backend group|SSHCredential key) / update'
const FOCUSED: Readonly<Record<string, string>> = {
  'account-edits': EDITS,
  clocks: EDITS,
  'etcd-put-back': EDITS,
  'kubernetes-404s': EDITS,
  'kubernetes-refuses': EDITS,
  'kubernetes-strangers': EDITS,
  'lagging-reads': EDITS,
}

/** The suites of the matrix: its files. */
export const suites: readonly string[] = readdirSync(MATRIX).flatMap((file) => SUITE.exec(file)?.[1] ?? [])

/** Every suite that brings objects of specs to rest and judges them: all but those named above. */
export const AT_REST: readonly Aim[] = suites
  .filter((suite) => NOT_AT_REST[suite] === undefined)
  .map((suite) => ({ suite, ...(FOCUSED[suite] !== undefined && { cases: FOCUSED[suite] }) }))
