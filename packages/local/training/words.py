"""Holds the words of the training pages in several scripts, and makes phrases of them."""

from random import Random

LATIN = (
    "account river market summer journal basic light travel kitchen signal orange window paper harbour music garden "
    "report detail mountain season simple monthly guide member street update project silver morning letter change open "
    "north studio green price order delivery cotton battery wireless portable ceramic delivers built every people with "
    "without from under over before after between search settings profile message calendar invoice payment security "
    "privacy support overview analytics revenue customer product shipping address language country city number name "
    "email password confirm continue cancel save delete edit share download upload filter sort view more less today "
    "tomorrow yesterday week month year hours minutes the and for you your our are can will best new free fast small"
).split()
CYRILLIC = (
    "город рынок лето журнал свет поездка кухня окно бумага музыка сад отчёт гора сезон новый заказ доставка цена "
    "поиск настройки профиль сообщение календарь счёт оплата помощь обзор клиент товар адрес язык страна имя пароль"
).split()
GREEK = "πόλη αγορά καλοκαίρι φως ταξίδι κουζίνα παράθυρο μουσική κήπος βουνό νέα τιμή αναζήτηση προφίλ μήνυμα".split()
HAN = "城市 市场 夏天 杂志 旅行 厨房 窗户 音乐 花园 报告 季节 订单 价格 搜索 设置 个人 消息 日历 支付 帮助 客户 产品 地址 语言".split()
KANA = "まち いちば なつ ひかり 旅行 キッチン まど 音楽 にわ レポート 注文 配送 価格 検索 設定 プロフィール メッセージ".split()
ARABIC = (
    "مدينة سوق صيف مجلة ضوء سفر مطبخ نافذة موسيقى حديقة تقرير جبل موسم جديد طلب توصيل سعر بحث إعدادات رسالة".split()
)
SCRIPTS = {"latin": LATIN, "cyrillic": CYRILLIC, "greek": GREEK, "han": HAN, "kana": KANA, "arabic": ARABIC}


class Words:
    """Makes phrases in one script."""

    def __init__(self, rng: Random, script: str) -> None:
        self.rng = rng
        self.known = SCRIPTS[script]
        self.between = "" if script in ("han", "kana") else " "

    def phrase(self, least: int, most: int) -> str:
        made = self.between.join(self.rng.choice(self.known) for _ in range(self.rng.randint(least, most)))
        return made[:1].upper() + made[1:]

    def sentence(self) -> str:
        return self.phrase(6, 16) + self.rng.choice([".", ".", "!", "?"])

    def paragraph(self) -> str:
        return " ".join(self.sentence() for _ in range(self.rng.randint(1, 4)))

    def figure(self) -> str:
        rng = self.rng
        return rng.choice(
            [
                f"${rng.randint(1, 999)}.{rng.randint(0, 99):02}",
                f"{rng.randint(1, 99)}%",
                f"{rng.randint(1, 12)}:{rng.randint(0, 59):02}",
                f"{rng.randint(1, 28)}/{rng.randint(1, 12)}/20{rng.randint(10, 29)}",
                f"{rng.randint(1, 999)},{rng.randint(100, 999)}",
                str(rng.randint(0, 9)),
                rng.choice("ABCDEFGHKMOQRSTUXZ"),
                f"+{rng.randint(1, 99)}",
            ]
        )
