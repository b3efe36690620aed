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
}

export function IconButton({ icon, label, look = "quiet", small = false, className = "", ...rest }: IconProps) {
  return (
    <button
      type="button"
      className={`button icon ${look === "plain" ? "" : look} ${small ? "small" : ""} ${className}`}
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} size={small ? 14 : 16} />
    </button>
  );
}
