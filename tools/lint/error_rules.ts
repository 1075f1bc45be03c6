/** Rules about errors: what a class is called, how a message is written. */

import { literalText } from "./reference.ts";

/** The bundler renames classes; an error whose name is not spelled out prints as `t`. */
export const errorName: Deno.lint.Rule = {
  create(context) {
    function check(node: Deno.lint.ClassDeclaration | Deno.lint.ClassExpression): void {
      if (!extendsError(node)) return;
      const name = node.id?.name;
      const spelled = node.body.body.some((member) =>
        member.type === "PropertyDefinition" && !member.static && !member.computed &&
        member.key.type === "Identifier" && member.key.name === "name" &&
        member.value?.type === "Literal" && typeof member.value.value === "string" &&
        (name === undefined || member.value.value === name)
      );
      if (spelled) return;
      context.report({
        node: node.id ?? node,
        message: `Error class ${name ?? "without a name"} does not spell out its name`,
        hint: `Add: override readonly name = "${name ?? "…"}";`,
      });
    }
    return { ClassDeclaration: check, ClassExpression: check };
  },
};

function extendsError(node: Deno.lint.ClassDeclaration | Deno.lint.ClassExpression): boolean {
  const parent = node.superClass;
  if (parent?.type === "Identifier") return parent.name.endsWith("Error");
  return parent?.type === "MemberExpression" && parent.property.type === "Identifier" &&
    parent.property.name.endsWith("Error");
}

/** Classes whose first argument is the message as it will be read. */
const BUILT_IN_ERROR =
  /^(Error|TypeError|RangeError|SyntaxError|AggregateError|BuildError|CheckError)$/;

/** House error prose: "Cannot do X: state", capital first letter, no final period. */
export const errorProse: Deno.lint.Rule = {
  create(context) {
    if (/_test\.ts$/.test(context.filename)) return {};
    return {
      NewExpression(node) {
        if (node.callee.type !== "Identifier") return;
        const [first, second] = node.arguments;
        if (first === undefined) return;
        if (BUILT_IN_ERROR.test(node.callee.name)) {
          const message = node.callee.name === "AggregateError" ? second : first;
          if (message !== undefined) checkMessage(context, message);
        } else if (node.callee.name.endsWith("Error") && first.type === "ObjectExpression") {
          checkParts(context, first);
        }
      },
    };
  },
};

function checkMessage(context: Deno.lint.RuleContext, node: Deno.lint.Node): void {
  if (!/^[^A-Z]/.test(startOf(node) ?? "A") && !endOf(node)?.endsWith(".")) return;
  context.report({
    node,
    message: "Error message starts with a capital letter and has no final period",
    hint: "Write it as: Cannot do X: current state",
  });
}

/** `HeadcniError` makes the sentence: "Cannot " + operation + subject + ": " + reason. */
function checkParts(context: Deno.lint.RuleContext, parts: Deno.lint.ObjectExpression): void {
  for (const part of parts.properties) {
    if (part.type !== "Property" || part.key.type !== "Identifier") continue;
    if (part.key.name === "operation" && /^(Cannot|[A-Z][a-z])/.test(startOf(part.value) ?? "")) {
      context.report({
        node: part.value,
        message: "An operation is a verb phrase that follows “Cannot”",
        hint: `Begin it with a small letter: "read file"`,
      });
    }
    if (part.key.name === "reason" && endOf(part.value)?.endsWith(".")) {
      context.report({
        node: part.value,
        message: "A reason has no final period",
        hint: "It may be followed by more text: leave the period out",
      });
    }
  }
}

/** The first characters of a text, `undefined` where they are computed. */
function startOf(node: Deno.lint.Node): string | undefined {
  const text = node.type === "TemplateLiteral" ? node.quasis[0]?.cooked : literalText(node);
  return text === "" && node.type === "TemplateLiteral" ? undefined : text;
}

/** The last characters of a text, likewise. */
function endOf(node: Deno.lint.Node): string | undefined {
  return node.type === "TemplateLiteral" ? node.quasis.at(-1)?.cooked : literalText(node);
}
