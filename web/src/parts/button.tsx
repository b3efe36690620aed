import type { ButtonHTMLAttributes } from "react";
import { Icon, type IconName } from "./icon";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "plain" | "primary" | "quiet" | "danger";
  small?: boolean;
  icon?: IconName;
}

export function Button({ look = "plain", small = false, icon, children, className = "", ...rest }: Props) {
  const classes = `button ${look === "plain" ? "" : look} ${small ? "small" : ""} ${className}`;
  return (
    <button type="button" className={classes} {...rest}>
      {icon && <Icon name={icon} size={small ? 14 : 16} />}
      {children}
    </button>
  );
}

interface IconProps extends Omit<Props, "children" | "icon"> {
  icon: IconName;
  /** What it does, for those who do not see it. */
  label: string;
  /** Its name beside the icon, where there is room for it. */
  name?: string;
  /** More about it than its label, for those who point at it. */
  hint?: string;
}

export function IconButton({ icon, label, name, hint, look = "quiet", small = false, className = "", ...rest }: IconProps) {
  return (
    <button
      type="button"
      className={`button icon ${look === "plain" ? "" : look} ${small ? "small" : ""} ${className}`}
      aria-label={label}
      aria-description={hint}
      data-tip={hint ?? label}
      {...rest}
    >
      <Icon name={icon} size={small ? 14 : 16} />
      {name !== undefined && <span className="button-name">{name}</span>}
    </button>
  );
}
