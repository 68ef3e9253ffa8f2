import { distinct, nonEmptyString } from './readers.ts'

/** An id; that it names something is checked where the account is known. */
export const id = nonEmptyString
/** Ids, none of them twice. */
export const ids = distinct(nonEmptyString)
