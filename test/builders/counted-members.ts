import { celName, type Rule } from '../../src/schema/rules.ts'

/** A rule over how many of `fields` are set, as a union without a discriminator would have one: `counted(['a', 'b', 'c'], '== 1')`. */
export function counted(fields: readonly string[], comparison: '== 1' | '<= 1'): Rule {
  const set = fields.map((field) => `has(self.${celName(field)})`).join(', ')
  return {
    rule: `[${set}].filter(set, set).size() ${comparison}`,
    message: `fields are wrong: set one of ${fields.join(', ')}`,
  }
}
