/** Fields of a remote object by the API's names, in the form in which they are sent. */
export type Fields = Readonly<Record<string, unknown>>
