import { distinct, nonEmptyString } from './readers.ts'

/** An id; whether it exists is checked where the account is known. */
export const id = nonEmptyString
/** Distinct ids. */
export const ids = distinct(nonEmptyString)
