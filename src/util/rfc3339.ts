const FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

/** Whether a text is a time that the API server accepts. */
export function isRFC3339(text: string): boolean {
  return FORM.test(text) && !Number.isNaN(Date.parse(text))
}
